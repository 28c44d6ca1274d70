import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readMarks } from '../../../src/core/base/thread-marks.ts'
import type { Job } from '../../../src/pool/job.ts'
import { WorkerPool } from '../../../src/pool/pool.ts'
import type { PoolOptions } from '../../../src/pool/pool-options.ts'
import { createProgress } from '../../../src/pool/slots.ts'
import type { Threads } from '../../../src/pool/threads.ts'
import type { BatchMessage, BatchResult } from '../../../workers/protocol.ts'
import { eventually } from '../../support/eventually.ts'
import { inlineRunner } from '../../support/runner.ts'

const pools: WorkerPool[] = []
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close()
})

const job = (content: string, op = 'count', own = false): Job => {
  const text = JSON.stringify({ content })
  const body = own ? new TextEncoder().encode(text) : Buffer.from(text)
  return { op, tenant: 'local', media: 'json', accept: 'json', body, requestId: 'r' }
}

/** A pool over threads that do what `run` says with each message. */
function poolOver(run: Threads['run'], options: Partial<PoolOptions> & { size?: number } = {}) {
  const progress = createProgress(options.size ?? 1)
  const lost: string[] = []
  const bugs: string[] = []
  const pool = new WorkerPool({
    threads: { size: options.size ?? 1, run, close: async () => {} },
    progress,
    limits: () => ({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000, maxWaitMs: 60_000 }),
    onBug: (_, bug) => bugs.push(bug),
    onThreadLost: reason => lost.push(reason),
    ...options,
  })
  pools.push(pool)
  return { pool, progress, lost, bugs }
}

const runner = inlineRunner()
const honest = async (message: BatchMessage): Promise<BatchResult> => runner(message)

/** What the runner gives, with a time of work that this machine's load does not change. */
function inSteadyTime(message: BatchMessage): BatchResult {
  const { outcomes, body } = runner(message)
  return { outcomes: outcomes.map(outcome => ({ ...outcome, work_us: 20 })), body }
}

async function tokens(result: ReturnType<WorkerPool['run']>): Promise<number | string> {
  const settled = await result
  if (!settled.ok) return settled.problem.code
  return JSON.parse(Buffer.from(settled.body).toString()).tokens
}

describe('the pool', () => {
  it('answers every job with its own result', async () => {
    const { pool } = poolOver(honest)
    const texts = Array.from({ length: 50 }, (_, i) => 'a '.repeat(i).trim())
    const counts = await Promise.all(texts.map(text => tokens(pool.run(job(text)))))
    expect(counts).toEqual(texts.map((_, i) => i))
  })

  it('sends jobs that wait together in one message', async () => {
    const sizes: number[] = []
    const { pool } = poolOver(async message => {
      sizes.push(message.jobs.length)
      return inSteadyTime(message)
    })
    await pool.run(job('x'))
    sizes.pop()
    for (let round = 0; round < 30; round++) {
      await Promise.all(Array.from({ length: 10 }, () => pool.run(job('x'))))
    }
    expect(sizes).toEqual(Array(30).fill(10))
  })

  it('hands each job of a batch the keys of decisions that it is about to make', async () => {
    const heard: string[] = []
    const { pool } = poolOver(async (message, _, hints) => {
      for (const [index] of message.jobs.entries()) hints?.ahead?.(index, [`key ${index}`])
      // A hint may be of a job that has ended.
      hints?.ahead?.(message.jobs.length, ['another'])
      return inSteadyTime(message)
    })
    await pool.run(job('learnt'))
    const hearing = ['a', 'b'].map(name => ({
      ...job(name),
      onKeysAhead: (keys: readonly string[]) => void heard.push(`${name}: ${keys}`),
    }))
    await Promise.all(hearing.map(each => pool.run(each)))
    expect(heard).toEqual(['a: key 0', 'b: key 1'])
  })

  it('sends turns of a conversation to the thread that had the turn before', async () => {
    const free = new Set([1, 2])
    const wanted: (number | undefined)[] = []
    const seen: string[] = []
    let release: (() => void) | undefined
    const run: Threads['run'] = async (message, _, { near } = {}) => {
      const { jobs, body } = message
      wanted.push(near)
      seen.push(Buffer.from(body, jobs[0]!.start + 12, 3).toString())
      const thread = near !== undefined && free.has(near) ? near : [...free][0]!
      if (release === undefined && wanted.length > 3) {
        await new Promise<void>(resolve => {
          release = resolve
        })
      }
      return { ...inSteadyTime(message), thread }
    }
    const threads = { size: 1, run, free: () => free, close: async () => {} }
    const { pool } = poolOver(run, { threads })
    const turn = (name: string, turns: number): Job => ({
      ...job(`${name} `.repeat(1000 * turns)),
      isTurn: true,
    })
    await pool.run(turn('one', 1))
    free.delete(1)
    await pool.run(turn('two', 1))
    free.add(1)
    await pool.run(turn('one', 2))
    // What it has in common with another conversation is its first bytes.
    expect(wanted).toEqual([undefined, 1, 1])
    // Only the second thread is free, so its conversation goes first.
    free.delete(1)
    const busy = pool.run(turn('new', 1))
    await eventually(() => expect(release).toBeDefined())
    const waiting = [turn('one', 3), turn('one', 4), turn('two', 2)].map(each => pool.run(each))
    release?.()
    await Promise.all([busy, ...waiting])
    expect(seen.slice(4)[0]).toBe('two')
    expect(wanted[4]).toBe(2)
  })

  it('moves a large body and copies small ones', async () => {
    const { pool } = poolOver(honest)
    const large = job('y '.repeat(600_000), 'count', true)
    const small = job('y', 'count', true)
    const seen: ArrayBuffer[] = []
    const { pool: watching } = poolOver(async message => {
      seen.push(message.body)
      return runner(message)
    })
    await watching.run(large)
    await watching.run(small)
    expect(seen[0]).toBe(large.body.buffer)
    expect(seen[1]).not.toBe(small.body.buffer)
    expect(await tokens(pool.run(small))).toBe(1)
  })

  it('tries the others of a lost batch again, and fails the job that ran', async () => {
    let first = true
    const { pool, progress, lost } = poolOver(async message => {
      if (!first || message.jobs.length === 1) return inSteadyTime(message)
      first = false
      new Int32Array(progress)[message.slot] = 1
      throw new Error('gone')
    })
    await pool.run(job('known'))
    const results = await Promise.all(
      ['a', 'a b', 'a b c'].map(text => tokens(pool.run(job(text)))),
    )
    expect(results).toEqual([1, 'worker_lost', 3])
    expect(lost).toEqual(['lost'])
  })

  it('gives up on a job whose thread is lost before it begins, again and again', async () => {
    let tries = 0
    const { pool } = poolOver(async () => {
      tries++
      throw new Error('gone')
    })
    expect(await tokens(pool.run(job('a')))).toBe('worker_lost')
    expect(tries).toBe(3)
  })

  it('fails a job whose body was moved away with the lost thread', async () => {
    const { pool } = poolOver(async message => {
      structuredClone(message.body, { transfer: [message.body] })
      throw new Error('gone')
    })
    expect(await tokens(pool.run(job('y '.repeat(600_000), 'count', true)))).toBe('worker_lost')
  })

  it('stops a job that runs late, and says so', async () => {
    const { pool, lost, progress } = poolOver(
      (message, signal) =>
        new Promise((_, reject) => {
          new Int32Array(progress)[message.slot] = 0
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        }),
      { limits: () => ({ jobTimeoutMs: 100, queueTimeoutMs: 60_000, maxWaitMs: 60_000 }) },
    )
    expect(await tokens(pool.run(job('a')))).toBe('timeout')
    expect(lost).toEqual(['timeout'])
  })

  it('gives no thread to a job whose client hung up', async () => {
    const seen: number[] = []
    const { pool } = poolOver(async message => {
      seen.push(message.jobs.length)
      return runner(message)
    })
    const gone = { ...job('a'), abandoned: () => true }
    const here = { ...job('a b'), abandoned: () => false }
    const results = await Promise.all([tokens(pool.run(gone)), tokens(pool.run(here))])
    expect(results).toEqual(['overloaded', 2])
    expect(seen).toEqual([1])
  })

  it('expects a wait only where more jobs of a tenant wait than there are threads', async () => {
    const { pool } = poolOver(() => new Promise(() => {}), { size: 2 })
    for (let i = 0; i < 2; i++) {
      void pool.run({ ...job('x'.repeat(400_000)), tenant: `busy ${i}` })
      await eventually(() => expect(pool.running).toBe(i + 1))
    }
    void pool.run(job('y'.repeat(400_000)))
    const waitMs = (tenant: string) => pool.waitMs({ tenant, op: 'count', bytes: 100 })
    expect([waitMs('local'), waitMs('other')]).toEqual([0, 0])
    void pool.run(job('y'.repeat(400_000)))
    expect(waitMs('local')).toBeGreaterThan(10)
    expect(waitMs('local')).toBe(pool.waitMs())
    expect(waitMs('other')).toBe(0)
  })

  it('refuses a job that waits too long for a thread', async () => {
    const limits = () => ({ jobTimeoutMs: 60_000, queueTimeoutMs: 200, maxWaitMs: 60_000 })
    const { pool } = poolOver(() => new Promise(() => {}), { limits })
    void pool.run(job('a'))
    await eventually(() => expect(pool.running).toBe(1))
    expect(await tokens(pool.run(job('b')))).toBe('overloaded')
  })

  it('logs a bug and answers it as internal', async () => {
    const { pool, bugs } = poolOver(honest)
    expect(await tokens(pool.run(job('a', 'no such operation')))).toBe('internal')
    expect(bugs[0]).toContain('no such operation')
  })

  it('refuses what waits and what comes when it is closed', async () => {
    const { pool } = poolOver(() => new Promise(() => {}))
    const running = pool.run(job('a'))
    await eventually(() => expect(pool.running).toBe(1))
    const waiting = pool.run(job('b'))
    expect(pool.waiting).toBe(1)
    await pool.close()
    expect(await tokens(waiting)).toBe('overloaded')
    expect(await tokens(pool.run(job('c')))).toBe('overloaded')
    void running
  })
})

it('a pool that is closed ends its threads after their unbroken work', async () => {
  const order: string[] = []
  let slot: number | undefined
  const { pool, progress } = poolOver(async message => {
    slot = message.slot
    return new Promise<never>(() => {})
  })
  const { protections } = readMarks(progress)
  void pool.run(job('x')).catch(() => {})
  await eventually(() => expect(slot).toBeDefined())
  protections[slot!] = 1
  const closed = pool.close().then(() => order.push('closed'))
  await new Promise(setImmediate)
  order.push('work done')
  protections[slot!] = 0
  await closed
  expect(order).toEqual(['work done', 'closed'])
})

describe('two phases', () => {
  const encode = (fields: object): Job => {
    const body = Buffer.from(JSON.stringify({ content: 'text of a result', ...fields }))
    return { op: 'encode', tenant: 'local', media: 'json', accept: 'json', body, requestId: 'r' }
  }

  async function answer(result: ReturnType<WorkerPool['run']>) {
    const settled = await result
    if (!settled.ok) throw new Error(settled.problem.code)
    return JSON.parse(Buffer.from(settled.body).toString())
  }

  it('ask the authority between their phases', async () => {
    const { pool } = poolOver(honest)
    const asked: unknown[] = []
    const authority = {
      async resolve(lookups: unknown) {
        asked.push(lookups)
        return [{}]
      },
    }
    expect(await answer(pool.runTwoPhase(encode({ session: 's' }), authority))).toMatchObject({
      partition: 0,
    })
    expect(asked).toMatchObject([[{ session: { session: 's', isCounted: true } }]])
  })

  it('do not ask for a job without a session', async () => {
    const { pool } = poolOver(honest)
    const authority = { resolve: vi.fn() }
    expect(await answer(pool.runTwoPhase(encode({}), authority))).toMatchObject({ partition: 0 })
    expect(authority.resolve).not.toHaveBeenCalled()
  })

  it('end as overloaded where the authority fails or answers nonsense', async () => {
    const { pool } = poolOver(honest)
    const lost = { resolve: () => Promise.reject(new Error('connection lost')) }
    const wrong = { resolve: async () => [] }
    for (const authority of [lost, wrong]) {
      const result = await pool.runTwoPhase(encode({ session: 's' }), authority)
      expect(result).toMatchObject({ ok: false, problem: { code: 'overloaded', retry_after_s: 1 } })
    }
  })

  it('are both in the times', async () => {
    const { pool } = poolOver(honest)
    const authority = { resolve: async () => [null] }
    const result = await pool.runTwoPhase(encode({ session: 's' }), authority)
    expect(result.work_ms).toBeGreaterThan(0)
  })
})

describe('the watch over running jobs', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  })
  afterEach(() => void vi.useRealTimers())

  /** A pool whose jobs wait for a release. */
  function heldPool() {
    const release = Promise.withResolvers<void>()
    const { pool } = poolOver(async message => {
      await release.promise
      return honest(message)
    })
    return { pool, release }
  }

  it('wakes an idle process no more, but runs as long as a job does', async () => {
    const { pool, release } = heldPool()
    expect(vi.getTimerCount()).toBe(0)
    const counted = Promise.all(['x', 'x y'].map(content => tokens(pool.run(job(content)))))
    await eventually(() => expect(pool.running).toBeGreaterThan(0))
    vi.advanceTimersByTime(10_000)
    expect(vi.getTimerCount()).toBe(1)
    release.resolve()
    expect(await counted).toEqual([1, 2])
    vi.advanceTimersByTime(60)
    expect(vi.getTimerCount()).toBe(0)
    expect(await tokens(pool.run(job('x y')))).toBe(2)
    expect(vi.getTimerCount()).toBe(1)
  })

  it('lets the mean utilisation fall while there is nothing to do', async () => {
    const { pool, release } = heldPool()
    const counted = tokens(pool.run(job('x')))
    await eventually(() => expect(pool.running).toBe(1))
    vi.advanceTimersByTime(10_000)
    const busy = pool.utilization
    expect(busy).toBeGreaterThan(0.6)
    release.resolve()
    await counted
    vi.advanceTimersByTime(10_000)
    const rested = pool.utilization
    // As if each look, every 50 ms, had found nothing.
    expect(rested).toBeCloseTo(busy * 0.995 ** 200)
    // A new job begins from there.
    await tokens(pool.run(job('x')))
    expect(pool.utilization).toBeCloseTo(rested)
  })
})
