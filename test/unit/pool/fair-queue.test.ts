import { describe, expect, it } from 'vitest'
import { FairQueue, type Queued } from '../../../src/core/base/fair-queue.ts'

interface Named extends Queued {
  readonly name: string
}

const job = (tenant: string, costUs: number, name = ''): Named => ({
  tenant,
  costUs,
  name,
  queuedAt: 0,
})

/** A queue of `count` jobs of each cost, by tenant. */
function queueOf(jobs: Readonly<Record<string, { costUs: number; count: number }>>) {
  const queue = new FairQueue<Named>()
  for (const [tenant, { costUs, count }] of Object.entries(jobs)) {
    for (let i = 0; i < count; i++) queue.push(job(tenant, costUs, `${tenant}${i}`))
  }
  return queue
}

/** Takes `count` entries; gives the work that each tenant had. */
function serve(queue: FairQueue<Named>, count: number): Record<string, number> {
  const work: Record<string, number> = {}
  for (let i = 0; i < count; i++) {
    const { tenant, costUs } = queue.take() as Named
    work[tenant] = (work[tenant] ?? 0) + costUs
  }
  return work
}

const names = (queue: FairQueue<Named>): string[] => {
  const taken: string[] = []
  for (let entry = queue.take(); entry !== undefined; entry = queue.take()) taken.push(entry.name)
  return taken
}

/** Equal but for one job of each, the most that the order can be off by. */
function expectEqualWork(work: Readonly<Record<string, number>>, jobUs: number): void {
  const parts = Object.values(work)
  expect(parts).toHaveLength(2)
  expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(2 * jobUs)
}

describe('the fair queue', () => {
  it('is first come, first served for one tenant', () => {
    const queue = queueOf({ a: { costUs: 5, count: 4 } })
    expect(queue.peek()?.name).toBe('a0')
    expect([queue.length, queue.workUs]).toEqual([4, 20])
    expect(names(queue)).toEqual(['a0', 'a1', 'a2', 'a3'])
    expect([queue.length, queue.workUs, queue.peek()]).toEqual([0, 0, undefined])
  })

  it('lets a preferred entry go first, if it is among the eight oldest', () => {
    const queue = queueOf({ a: { costUs: 5, count: 10 } })
    const only = (name: string) => (entry: Named) => entry.name === name
    const all = () => true
    expect(queue.peek(all, only('a8'))?.name).toBe('a0')
    expect(queue.peek(all, only('a7'))?.name).toBe('a7')
    expect(queue.take(all, only('a7'))?.name).toBe('a7')
    expect(queue.take(all, only('a8'))?.name).toBe('a8')
    expect([queue.length, queue.workUs]).toEqual([8, 40])
    expect(queue.peek(({ name }) => name !== 'a0', only('a2'))).toBeUndefined()
    expect(queue.peek(({ name }) => name !== 'a2', only('a2'))?.name).toBe('a0')
    expect(names(queue)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a9'])
  })

  it('passes the oldest entry over eight times in a row at most', () => {
    const queue = queueOf({ a: { costUs: 5, count: 40 } })
    const isPreferred = ({ name }: Named) => name !== 'a0' && name !== 'a9'
    const taken = Array.from({ length: 20 }, () => queue.take(() => true, isPreferred)!.name)
    expect(taken.indexOf('a0')).toBe(8)
    expect(taken.indexOf('a9')).toBe(17)
  })

  it('prefers nothing at the cost of another tenant', () => {
    const queue = queueOf({ a: { costUs: 10, count: 40 }, b: { costUs: 10, count: 40 } })
    const work = { a: 0, b: 0 }
    for (let i = 0; i < 40; i++) {
      const { tenant } = queue.take(
        () => true,
        entry => entry.tenant === 'a',
      ) as Named
      work[tenant as 'a' | 'b'] += 10
    }
    expectEqualWork(work, 10)
  })

  it('gives two tenants the same work, not the same number of jobs', () => {
    const queue = queueOf({
      large: { costUs: 1000, count: 20 },
      small: { costUs: 10, count: 2000 },
    })
    expect(serve(queue, 10 + 1000)).toEqual({ large: 10_000, small: 10_000 })
  })

  it('lets a newcomer in ahead of a long queue', () => {
    const queue = queueOf({ busy: { costUs: 100, count: 50 } })
    serve(queue, 20)
    queue.push(job('new', 1, 'new'))
    expect(serve(queue, 2)).toHaveProperty('new')
  })

  it('saves nothing up for a tenant that was idle', () => {
    const queue = queueOf({ idle: { costUs: 10, count: 1 }, busy: { costUs: 10, count: 200 } })
    serve(queue, 100)
    for (let i = 0; i < 50; i++) queue.push(job('idle', 10))
    expectEqualWork(serve(queue, 40), 10)
  })

  it('charges what jobs really took', () => {
    const queue = queueOf({ liar: { costUs: 1, count: 50 }, honest: { costUs: 100, count: 50 } })
    const took: Record<string, number> = { liar: 0, honest: 0 }
    for (let i = 0; i < 40; i++) {
      const entry = queue.take() as Named
      queue.charge(entry, 100)
      took[entry.tenant] = (took[entry.tenant] ?? 0) + 100
    }
    expect(took).toEqual({ liar: 2000, honest: 2000 })
  })

  it('gives back what was charged too much, and lends none of it to newcomers', () => {
    const queue = queueOf({ a: { costUs: 100, count: 40 }, over: { costUs: 1000, count: 2 } })
    expect(serve(queue, 11)).toEqual({ a: 1000, over: 1000 })
    queue.charge(job('over', 1000), 0)
    expect(serve(queue, 1)).toEqual({ over: 1000 })
    for (let i = 0; i < 40; i++) queue.push(job('new', 100))
    expectEqualWork(serve(queue, 10), 100)
  })

  it('charges nobody for a tenant that it has forgotten', () => {
    const queue = queueOf({ a: { costUs: 10, count: 1 } })
    expect(() => queue.charge(job('gone', 10), 1_000_000)).not.toThrow()
    queue.push(job('gone', 10))
    expect(serve(queue, 2)).toEqual({ a: 10, gone: 10 })
  })

  it('puts what was lost ahead of everything, in its order', () => {
    const queue = queueOf({ a: { costUs: 10, count: 2 } })
    queue.putBack([job('b', 10, 'b0'), job('b', 10, 'b1')])
    queue.putBack([job('c', 10, 'c0')])
    expect([queue.length, queue.peek()?.name]).toEqual([5, 'c0'])
    expect(names(queue)).toEqual(['c0', 'b0', 'b1', 'a0', 'a1'])
    expect(queue.length).toBe(0)
  })

  it('removes what matches, and what was put back', () => {
    const queue = queueOf({ a: { costUs: 10, count: 3 }, b: { costUs: 7, count: 2 } })
    queue.putBack([job('c', 10, 'c0'), job('c', 10, 'c1')])
    const removed = queue.remove(({ name }) => ['a1', 'b0', 'c0'].includes(name))
    expect(removed.map(({ name }) => name).sort()).toEqual(['a1', 'b0', 'c0'])
    expect([queue.length, queue.workUs]).toEqual([4, 27])
    expect(names(queue)).toEqual(['c1', 'a0', 'b1', 'a2'])
    expect(queue.remove(() => true)).toEqual([])
  })

  it('tells the work ahead: all of its own, and as much of each other', () => {
    const queue = queueOf({
      a: { costUs: 10, count: 3 },
      long: { costUs: 100, count: 5 },
      short: { costUs: 4, count: 1 },
    })
    expect(queue.workAheadUs('a')).toBe(30 + 30 + 4)
    expect(queue.workAheadUs('long')).toBe(500 + 30 + 4)
    expect(queue.workAheadUs('new')).toBe(0)
  })
})
