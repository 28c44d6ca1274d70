import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Job } from '../../../src/pool/job.ts'
import { WorkerPool } from '../../../src/pool/pool.ts'
import type { PoolOptions } from '../../../src/pool/pool-options.ts'
import { createProgress } from '../../../src/pool/slots.ts'
import { inlineRunner } from '../../support/runner.ts'

const pools: WorkerPool[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const pool of pools.splice(0)) await pool.close()
})

/** So large that no two share a message; by the first estimate a tenth of a microsecond a byte. */
const SIZE = 40_000

const NEVER = Number.POSITIVE_INFINITY

const job = (tenant: string, fields: Partial<Job> = {}): Job => ({
  op: 'count',
  tenant,
  media: 'json',
  accept: 'json',
  body: Buffer.from(JSON.stringify({ content: tenant.padEnd(SIZE) })),
  requestId: tenant,
  ...fields,
})

/** A pool of one thread over `run`, which is told whose job it has. */
function poolOver(run: (tenant: string) => void) {
  const runner = inlineRunner()
  const progress = createProgress(1)
  const turns: string[] = []
  const threads: PoolOptions['threads'] = {
    size: 1,
    async run(message) {
      const { content } = JSON.parse(Buffer.from(message.body).toString('utf8')) as {
        content: string
      }
      turns.push(content.trim())
      new Int32Array(progress)[message.slot] = 0
      run(content.trim())
      const { outcomes, body } = runner(message)
      return { outcomes: outcomes.map(outcome => ({ ...outcome, work_us: SIZE / 10 })), body }
    },
    close: async () => {},
  }
  const pool = new WorkerPool({
    threads,
    progress,
    limits: () => ({ jobTimeoutMs: NEVER, queueTimeoutMs: NEVER, maxWaitMs: 60_000 }),
    onBug: () => {},
    onThreadLost: () => {},
  })
  pools.push(pool)
  return { pool, turns }
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

describe('tenants that wait', () => {
  it('take turns where their jobs take the same', async () => {
    const { pool, turns } = poolOver(() => {})
    await Promise.all([
      ...times(8, () => pool.run(job('a'))),
      ...times(8, () => pool.run(job('b'))),
    ])
    expect(turns.slice(0, 6).sort()).toEqual(['a', 'a', 'a', 'b', 'b', 'b'])
  })

  it('pay for the time of jobs that were stopped, too', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const { pool, turns } = poolOver(tenant => {
      vi.advanceTimersByTime(tenant === 'stuck' ? 30_000 : 1)
      if (tenant === 'stuck') throw new Error('stopped')
    })
    await Promise.all([
      ...times(8, () => pool.run(job('stuck'))),
      ...times(8, () => pool.run(job('good'))),
    ])
    // One of them had 30 s of the thread: the other comes first until it had as much.
    expect(turns.lastIndexOf('good')).toBeLessThan(10)
  })

  it('do not pay for jobs whose clients hung up', async () => {
    const { pool, turns } = poolOver(() => {})
    const abandoned = () => true
    await Promise.all([
      ...times(8, () => pool.run(job('gone', { abandoned }))),
      pool.run(job('gone')),
      ...times(8, () => pool.run(job('good'))),
    ])
    expect(turns.indexOf('gone')).toBeLessThan(2)
  })
})
