import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Job } from '../../../src/pool/job.ts'
import { WorkerPool } from '../../../src/pool/pool.ts'
import type { PoolOptions } from '../../../src/pool/pool-options.ts'
import { createProgress } from '../../../src/pool/slots.ts'
import { inlineRunner } from '../../support/runner.ts'

const pools: WorkerPool[] = []
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'setImmediate'] })
})
afterEach(async () => {
  vi.useRealTimers()
  for (const pool of pools.splice(0)) await pool.close()
})

/** By the first estimate a tenth of a microsecond a byte. */
const TINY = 1_000
/** So large that no two share a message. */
const SHORT = 40_000
const LONG = 1_100_000
/** Longer than others may be made to wait, by estimate. */
const HEAVY = 15_000_000

const runner = inlineRunner()

function bodyOf(bytes: number): Buffer {
  const body = Buffer.alloc(bytes, ' ')
  body.write(JSON.stringify({ content: 'x' }))
  return body
}

const job = (tenant: string, bytes = SHORT, fields: Partial<Job> = {}): Job => ({
  op: 'count',
  tenant,
  media: 'json',
  accept: 'json',
  body: bodyOf(bytes),
  requestId: tenant,
  ...fields,
})

/** A batch that has a thread until the test ends it. */
interface AtWork {
  readonly tenants: readonly string[]
  /** The names of its jobs. */
  readonly attempts: readonly (string | undefined)[]
  /** The thread comes to the job of this index. */
  begin(index: number): void
  end(): Promise<void>
  /** The thread is lost at the job of this index. */
  lose(index: number): Promise<void>
}

/** A pool of `width` jobs at once and a kept thread; batches go on until the test ends them. */
function poolOf(width: number, limits: Partial<ReturnType<PoolOptions['limits']>> = {}) {
  const progress = createProgress(width + 1)
  const atWork: AtWork[] = []
  const lost: string[] = []
  const threads: PoolOptions['threads'] = {
    size: width + 1,
    run: (sent, signal) =>
      new Promise((resolve, reject) => {
        const message = { ...sent, body: structuredClone(sent.body, { transfer: [sent.body] }) }
        const batch: AtWork = {
          tenants: message.jobs.map(({ tenant }) => tenant),
          attempts: message.jobs.map(({ attempt }) => attempt),
          begin(index) {
            new Int32Array(progress)[message.slot] = index
          },
          async end() {
            atWork.splice(atWork.indexOf(batch), 1)
            const { outcomes, body } = runner(message)
            // As estimated, so that this machine's load does not change what is learnt.
            const work_us = 0.1 * message.body.byteLength
            resolve({ outcomes: outcomes.map(outcome => ({ ...outcome, work_us })), body })
            await turn()
          },
          async lose(index) {
            batch.begin(index)
            atWork.splice(atWork.indexOf(batch), 1)
            reject(new Error('lost'))
            await turn()
          },
        }
        signal.addEventListener('abort', () => {
          atWork.splice(atWork.indexOf(batch), 1)
          reject(new Error('terminated'))
        })
        batch.begin(0)
        atWork.push(batch)
      }),
    close: async () => {},
  }
  const pool = new WorkerPool({
    threads,
    progress,
    width,
    limits: () => ({
      jobTimeoutMs: 30_000,
      queueTimeoutMs: 60_000,
      maxWaitMs: 1_000,
      ...limits,
    }),
    onBug: (_, bug) => expect.fail(bug),
    onThreadLost: reason => lost.push(reason),
  })
  pools.push(pool)
  const tenants = () => atWork.flatMap(batch => batch.tenants).sort()
  return { pool, atWork, lost, tenants }
}

/** Lets each tenant's jobs of a size become known as short. */
async function teach(
  { pool, atWork }: ReturnType<typeof poolOf>,
  tenants: readonly string[],
  bytes = SHORT,
): Promise<void> {
  for (const tenant of tenants) {
    const result = pool.run(job(tenant, bytes))
    await turn()
    await atWork.at(-1)?.end()
    await result
  }
}

/** Lets promises settle and the queue be looked at. */
async function turn(): Promise<void> {
  await vi.advanceTimersByTimeAsync(1)
}

/** Queues jobs one after the other, each in a turn of its own, so that none shares a message. */
async function queue(pool: WorkerPool, ...jobs: readonly Job[]) {
  const results = []
  for (const each of jobs) {
    results.push(pool.run(each))
    await turn()
  }
  return results
}

const small = (tenant: string) => ({ tenant, op: 'count', bytes: SHORT })
const large = (tenant: string) => ({ tenant, op: 'count', bytes: LONG })

describe.each([1, 2, 4])('of %i threads, long jobs', width => {
  it('leave one for short jobs, and short jobs one for them', async () => {
    const { pool, tenants } = poolOf(width)
    const longs = Array.from({ length: width + 2 }, () => job('long', LONG))
    await queue(pool, ...longs, job('short'))
    expect(tenants()).toEqual([...Array(width).fill('long'), 'short'])
    await pool.close()

    const other = poolOf(width)
    await teach(other, ['short'])
    const shorts = Array.from({ length: width + 2 }, () => job('short'))
    await queue(other.pool, ...shorts, job('long', LONG))
    expect(other.tenants()).toEqual(['long', ...Array(width).fill('short')])
  })

  it('do not run on the kept thread', async () => {
    const made = poolOf(width)
    const { pool, atWork, tenants } = made
    await teach(made, ['b'])
    await queue(pool, job('b'), ...Array.from({ length: width + 2 }, () => job('long', LONG)))
    expect(tenants().filter(tenant => tenant === 'long')).toHaveLength(Math.max(1, width - 1))
    await atWork[0]?.end()
    expect(tenants()).toEqual(Array(width).fill('long'))
  })

  it('keep nobody waiting with short jobs that turn out long', async () => {
    const { pool, lost, tenants, ...rest } = poolOf(width)
    await teach({ pool, lost, tenants, ...rest }, ['slow', 'quick'])
    await teach({ pool, lost, tenants, ...rest }, ['slow'], TINY)
    const results = await queue(pool, ...Array.from({ length: width }, () => job('slow')))
    await vi.advanceTimersByTimeAsync(200)
    results.push(...(await queue(pool, job('slow', TINY))))
    await vi.advanceTimersByTimeAsync(400)
    // All threads are taken, and nothing is stopped as long as nobody else waits.
    expect([tenants(), lost]).toEqual([Array(width + 1).fill('slow'), []])
    results.push(...(await queue(pool, job('quick'))))
    await vi.advanceTimersByTimeAsync(50)
    await turn()
    expect(lost).toEqual(['moved'])
    expect(tenants()).toEqual(['quick', ...Array(width).fill('slow')])
    // What was moved is done all the same.
    for (let i = 0; i < 20; i++) await rest.atWork[0]?.end()
    for (const result of results) expect(await result).toMatchObject({ ok: true })
  })

  it('are told from short ones by the first of them, of however few bytes', async () => {
    const { pool, atWork, lost, tenants } = poolOf(width)
    const slow = Array.from({ length: width + 4 }, () => job('slow', TINY))
    const results = await queue(pool, ...slow)
    expect(tenants()).toEqual(['slow'])
    await vi.advanceTimersByTimeAsync(400)
    expect(tenants()).toEqual(Array(width).fill('slow'))
    results.push(...(await queue(pool, job('quick'))))
    expect([tenants(), lost]).toEqual([['quick', ...Array(width).fill('slow')], []])
    for (let i = 0; i < 20; i++) await atWork[0]?.end()
    for (const result of results) expect(await result).toMatchObject({ ok: true })
  })
})

describe.each([1, 2, 4])('of %i threads, first jobs of a kind', width => {
  /** Each is of another size, and so of another kind. */
  const ofKinds = (tenant: string, count: number) =>
    Array.from({ length: count }, (_, i) => job(tenant, TINY << i))

  it('make no short job of others wait, at once and while they run long', async () => {
    const made = poolOf(width)
    const { pool, atWork, tenants, lost } = made
    await teach(made, ['quick'])
    await queue(pool, job('slow', TINY))
    const quick = async () => {
      const result = pool.run(job('quick'))
      await turn()
      expect(tenants()).toContain('quick')
      await atWork.find(batch => batch.tenants.includes('quick'))?.end()
      expect(await result).toMatchObject({ ok: true })
    }
    await quick()
    void queue(pool, ...ofKinds('slow', 6))
    for (let i = 0; i < 20; i++) {
      await vi.advanceTimersByTimeAsync(40)
      await quick()
    }
    expect(tenants()).toEqual(Array(width).fill('slow'))
    expect(lost).toEqual([])
  })

  it('of a newcomer wait for no long job of others', async () => {
    const { pool, tenants } = poolOf(width)
    await queue(pool, ...Array.from({ length: width + 1 }, () => job('long', LONG)), job('new'))
    expect(tenants()).toEqual([...Array(width).fill('long'), 'new'])
  })
})

describe('a batch whose first job runs long', () => {
  it('is taken apart, where jobs of other tenants are in it', async () => {
    const made = poolOf(1)
    const { pool, atWork, lost } = made
    await teach(made, ['slow', 'a', 'b'], TINY)
    const all = ['slow', 'a', 'b'].map(tenant => pool.run(job(tenant, TINY)))
    await turn()
    expect(atWork.map(({ tenants }) => tenants)).toEqual([['slow', 'a', 'b']])
    await vi.advanceTimersByTimeAsync(250)
    expect(lost).toEqual(['moved'])
    expect(atWork.map(({ tenants }) => tenants)).toEqual([['a', 'b'], ['slow']])
    while (atWork.length > 0) await atWork[0]?.end()
    for (const result of all) expect(await result).toMatchObject({ ok: true })
  })

  it('goes on, where all are of one tenant', async () => {
    const made = poolOf(1)
    const { pool, atWork, lost } = made
    await teach(made, ['a'], TINY)
    void pool.run(job('a', TINY))
    void pool.run(job('a', TINY))
    await vi.advanceTimersByTimeAsync(5_000)
    expect([lost, atWork.length]).toEqual([[], 1])
  })
})

describe('long work of one tenant', () => {
  it('leaves a thread to long work of others, while others use the service', async () => {
    const { pool, atWork, tenants } = poolOf(2)
    await queue(pool, job('other'))
    await atWork[0]?.end()
    await queue(pool, job('a', HEAVY), job('a', HEAVY))
    expect(tenants()).toEqual(['a'])
    await queue(pool, job('other', LONG))
    expect(tenants()).toEqual(['a', 'other'])
  })

  it('may have all threads where nobody else does', async () => {
    const { pool, tenants } = poolOf(2)
    await queue(pool, job('a', HEAVY), job('a', HEAVY))
    expect(tenants()).toEqual(['a', 'a'])
  })
})

describe('long jobs of others', () => {
  it('have a thread beside a tenant of whose jobs nothing is known', async () => {
    const made = poolOf(2)
    const { pool, tenants, lost } = made
    await teach(made, ['other'])
    await queue(pool, ...Array.from({ length: 4 }, () => job('slow', TINY)))
    await vi.advanceTimersByTimeAsync(400)
    expect(tenants()).toEqual(['slow'])
    await queue(pool, job('other', LONG))
    expect([tenants(), lost]).toEqual([['other', 'slow'], []])
  })

  it('get one back from a tenant whose jobs take longer than they did', async () => {
    const made = poolOf(2)
    const { pool, atWork, tenants, lost } = made
    const slow = () => job('slow', LONG, { retained: true })
    const results = await queue(pool, slow(), slow(), job('other', LONG))
    await vi.advanceTimersByTimeAsync(900)
    expect([tenants(), lost]).toEqual([['slow', 'slow'], []])
    await vi.advanceTimersByTimeAsync(250)
    await turn()
    expect([tenants(), lost]).toEqual([['other', 'slow'], ['moved']])
    for (let i = 0; i < 5; i++) await atWork[0]?.end()
    for (const result of results) expect(await result).toMatchObject({ ok: true })
  })

  it('wait for jobs that could not start again', async () => {
    const { pool, tenants, lost } = poolOf(2)
    const slow = () => ({ ...job('slow'), body: new Uint8Array(LONG) })
    await queue(pool, slow(), slow(), job('other', LONG))
    await vi.advanceTimersByTimeAsync(5_000)
    expect([tenants(), lost]).toEqual([['slow', 'slow'], []])
  })
})

describe('the wait that is expected', () => {
  it('is none for short jobs, however long the jobs are that run', async () => {
    const { pool } = poolOf(2)
    await queue(pool, ...Array.from({ length: 4 }, () => job('long', HEAVY)))
    await vi.advanceTimersByTimeAsync(10_000)
    expect(pool.waitMs(small('short'))).toBe(0)
  })

  it('of a long job is the rest of those that run, by estimate', async () => {
    const { pool } = poolOf(1)
    await queue(pool, job('long', HEAVY))
    expect(pool.waitMs(large('other'))).toBeCloseTo(1_500, -1)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(Math.round(pool.waitMs(large('other')) / 100)).toBe(6)
    // A job that took its estimate may take as long again, up to its limit.
    await vi.advanceTimersByTimeAsync(9_000)
    expect(pool.waitMs(large('other'))).toBeCloseTo(10_000, -2.5)
    await vi.advanceTimersByTimeAsync(15_000)
    expect(pool.waitMs(large('other'))).toBeCloseTo(5_000, -2.5)
  })

  it('of short jobs counts only the threads that they have', async () => {
    const { pool } = poolOf(2)
    await queue(pool, job('long', LONG), job('long', LONG))
    for (let i = 0; i < 4; i++) await queue(pool, job('short', 500_000))
    expect(pool.waitMs(small('short'))).toBeCloseTo(150, -1)
  })
})

describe('a machine that is slow', () => {
  it('costs no job its time before a thread begins', async () => {
    const { pool, atWork, lost } = poolOf(1, { jobTimeoutMs: 1_000 })
    const result = pool.run(job('a'))
    await turn()
    atWork[0]?.begin(-1)
    await vi.advanceTimersByTimeAsync(20_000)
    expect(lost).toEqual([])
    atWork[0]?.begin(0)
    await vi.advanceTimersByTimeAsync(500)
    await atWork[0]?.end()
    expect(await result).toMatchObject({ ok: true })
  })

  it('blames the job that ran into its limit, though its thread went on', async () => {
    const made = poolOf(1, { jobTimeoutMs: 200 })
    const { pool, atWork, lost } = made
    await teach(made, ['late'], TINY)
    const results = [pool.run(job('late', TINY)), pool.run(job('late', TINY))]
    await turn()
    const [batch] = atWork
    vi.advanceTimersByTime(300)
    // The mark of a thread that comes to its next job before it is dead.
    batch?.begin(1)
    await turn()
    expect(lost).toEqual(['timeout'])
    await atWork[0]?.end()
    const settled = await Promise.all(results)
    expect(settled.map(({ ok }) => ok)).toEqual([false, true])
  })
})

describe('a job that shares its message with jobs that lose their threads', () => {
  it('is done, however many there are', async () => {
    const made = poolOf(1)
    const { pool, atWork, lost } = made
    await teach(made, ['a'], TINY)
    const bad = () => pool.run(job('a', TINY, { attempt: 'bad' }))
    const good = () => pool.run(job('a', TINY, { attempt: 'good' }))
    const results = [bad(), good(), bad(), good(), bad(), bad(), good(), bad()]
    await turn()
    expect(atWork[0]?.attempts).toHaveLength(8)
    while (atWork.length > 0) {
      const at = atWork[0]?.attempts.indexOf('bad') ?? -1
      await (at === -1 ? atWork[0]?.end() : atWork[0]?.lose(at))
    }
    const ends = (await Promise.all(results)).map(({ ok }) => ok)
    expect(ends).toEqual([false, true, false, true, false, false, true, false])
    expect(lost).toHaveLength(5)
  })
})
