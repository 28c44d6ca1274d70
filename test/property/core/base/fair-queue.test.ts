import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FairQueue, type Queued } from '../../../../src/core/base/fair-queue.ts'
import { runs } from '../../../support/runs.ts'

interface Numbered extends Queued {
  readonly number: number
}

const TENANTS = ['a', 'b', 'c'] as const
const tenant = fc.constantFrom(...TENANTS)
const costUs = fc.integer({ min: 0, max: 1_000 })

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('push' as const), tenant, costUs }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('charge' as const), took: fc.nat(5_000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('putBack' as const), count: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      modulus: fc.integer({ min: 1, max: 7 }),
    }),
  },
)

/** What a queue must be at any time: plain lists. */
function createModel() {
  const waiting: Numbered[] = []
  let again: Numbered[] = []
  const workOf = (name: string) =>
    waiting.filter(entry => entry.tenant === name).reduce((sum, entry) => sum + entry.costUs, 0)
  return {
    waiting,
    push: (entry: Numbered) => waiting.push(entry),
    putBack(entries: readonly Numbered[]) {
      again = [...entries, ...again]
    },
    /** Whether the queue may give this one now. */
    take(entry: Numbered | undefined) {
      if (entry === undefined) {
        expect(again.length + waiting.length).toBe(0)
        return
      }
      if (again.length > 0) {
        expect(entry).toBe(again.shift())
        return
      }
      // First come, first served within its tenant.
      expect(entry).toBe(waiting.find(other => other.tenant === entry.tenant))
      waiting.splice(waiting.indexOf(entry), 1)
    },
    remove(matches: (entry: Numbered) => boolean): Set<Numbered> {
      const removed = [...again, ...waiting].filter(matches)
      again = again.filter(entry => !matches(entry))
      for (const entry of removed) {
        const at = waiting.indexOf(entry)
        if (at !== -1) waiting.splice(at, 1)
      }
      return new Set(removed)
    },
    get length() {
      return again.length + waiting.length
    },
    workUs: () => TENANTS.reduce((sum, name) => sum + workOf(name), 0),
    workAheadUs(name: string) {
      const own = workOf(name)
      return TENANTS.reduce((sum, other) => sum + Math.min(own, workOf(other)), 0)
    },
  }
}

/** A job's estimate and what it then took. */
const jobs = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000 })),
  {
    minLength: 300,
    maxLength: 300,
  },
)

/**
 * Serves two tenants that never run out of jobs, one job at a time, and gives the largest
 * difference of what they had after any number of jobs.
 * @param charged whether the queue is told what a job took; else it takes what was estimated
 */
function largestGap(ours: readonly [number, number][], theirs: typeof ours, charged: boolean) {
  const queue = new FairQueue<Numbered>()
  const lists = { a: ours, b: theirs }
  for (const name of ['a', 'b'] as const) {
    lists[name].forEach(([cost], number) => {
      queue.push({ tenant: name, costUs: cost, queuedAt: 0, number })
    })
  }
  const had = { a: 0, b: 0 }
  let gap = 0
  for (let i = 0; i < ours.length; i++) {
    const entry = queue.take() as Numbered
    const name = entry.tenant as 'a' | 'b'
    const took = charged ? (lists[name][entry.number]?.[1] as number) : entry.costUs
    if (charged) queue.charge(entry, took)
    had[name] += took
    gap = Math.max(gap, Math.abs(had.a - had.b))
  }
  return gap
}

const largest = (list: readonly [number, number][], at: 0 | 1) =>
  Math.max(...list.map(pair => pair[at]))

describe('the fair queue', () => {
  it('gives each entry once, in its order, and knows how much waits', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), steps => {
        const queue = new FairQueue<Numbered>()
        const model = createModel()
        const taken: Numbered[] = []
        steps.forEach((each, number) => {
          if (each.kind === 'push') {
            const entry = { tenant: each.tenant, costUs: each.costUs, queuedAt: 0, number }
            queue.push(entry)
            model.push(entry)
          } else if (each.kind === 'take') {
            const next = queue.peek()
            const entry = queue.take()
            expect(entry).toBe(next)
            model.take(entry)
            if (entry !== undefined) taken.push(entry)
          } else if (each.kind === 'charge') {
            const entry = taken.at(-1)
            if (entry !== undefined) queue.charge(entry, each.took)
          } else if (each.kind === 'putBack') {
            const lost = taken.splice(0, each.count)
            queue.putBack(lost)
            model.putBack(lost)
          } else {
            const matches = (entry: Numbered) => entry.number % each.modulus === 0
            expect(new Set(queue.remove(matches))).toEqual(model.remove(matches))
          }
          expect(queue.length).toBe(model.length)
          expect(queue.workUs).toBe(model.workUs())
          for (const name of TENANTS) expect(queue.workAheadUs(name)).toBe(model.workAheadUs(name))
        })
      }),
      { numRuns: runs(200) },
    )
  })

  it('gives two tenants that wait the same work, within one job', () => {
    fc.assert(
      fc.property(jobs, jobs, (ours, theirs) => {
        const bound = Math.max(largest(ours, 0), largest(theirs, 0))
        expect(largestGap(ours, theirs, false)).toBeLessThanOrEqual(bound)
      }),
      { numRuns: runs(60) },
    )
  })

  it('does so by what jobs took where the estimates are wrong', () => {
    fc.assert(
      fc.property(jobs, jobs, (ours, theirs) => {
        const bound = Math.max(largest(ours, 1), largest(theirs, 1))
        expect(largestGap(ours, theirs, true)).toBeLessThanOrEqual(bound)
      }),
      { numRuns: runs(60) },
    )
  })

  it('gives a tenant that comes back no more than its part from then on', () => {
    fc.assert(
      fc.property(jobs, jobs, fc.nat(50), fc.nat(3), (ours, theirs, before, had) => {
        const queue = new FairQueue<Numbered>()
        const push = (name: string, list: readonly [number, number][]) => {
          list.forEach(([cost], number) => {
            queue.push({ tenant: name, costUs: cost, queuedAt: 0, number })
          })
        }
        push('back', theirs.slice(0, had))
        push('busy', ours)
        for (let i = 0; i < before + had; i++) queue.take()
        push('back', theirs)
        const work = { busy: 0, back: 0 }
        for (let i = 0; i < 200; i++) {
          const { tenant: name, costUs: cost } = queue.take() as Numbered
          work[name as 'busy' | 'back'] += cost
          // Goyal, Vin and Cheng 1996, theorem 1: over any interval, one largest job of each.
          expect(Math.abs(work.busy - work.back)).toBeLessThanOrEqual(
            largest(ours, 0) + largest(theirs, 0),
          )
        }
      }),
      { numRuns: runs(100) },
    )
  })
})
