import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/base/errors.ts'
import { createAdmission, type Ticket } from '../../../src/pool/admission.ts'
import { runs } from '../../support/runs.ts'

const TENANTS = ['a', 'b', 'c', 'd'] as const
const MAX = { jobs: 12, bytes: 100, waitMs: 1_000 }
const PER_KEY = 4

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('enter' as const),
      tenant: fc.constantFrom(...TENANTS),
      key: fc.nat(2),
      announced: fc.nat(120),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('grow' as const), at: fc.nat(), bytes: fc.nat(40) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('add' as const), at: fc.nat(), bytes: fc.nat(200) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('leave' as const), at: fc.nat() }) },
)

/** A place as plain data. */
interface Place {
  readonly ticket: Ticket
  readonly tenant: string
  readonly keyId: string
  bytes: number
}

/** The code of what `attempt` throws, which is never anything but a refusal. */
function refusal(attempt: () => void): string {
  try {
    attempt()
    return 'none'
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(error.extras.retry_after_s).toBeGreaterThan(0)
    return error.code
  }
}

/** Plain sums over all places. */
function sums(places: readonly Place[], matches: (place: Place) => boolean = () => true) {
  const all = places.filter(matches)
  return { jobs: all.length, bytes: all.reduce((sum, { bytes }) => sum + bytes, 0) }
}

/** What the door must say to so many bytes more of a tenant that then has `jobs` places. */
function bytesAnswer(places: readonly Place[], tenant: string, jobs: number, more: number) {
  const free = MAX.bytes - sums(places).bytes
  if (more > free) return 'overloaded'
  const held = sums(places, place => place.tenant === tenant).bytes
  return jobs > 1 && held + more > free ? 'rate_limited' : 'none'
}

function enterAnswer(places: readonly Place[], tenant: string, keyId: string, announced: number) {
  const free = MAX.jobs - places.length
  const { jobs } = sums(places, place => place.tenant === tenant)
  if (free <= 0) return 'overloaded'
  if (jobs > 0 && jobs >= free) return 'rate_limited'
  if (sums(places, place => place.keyId === keyId).jobs >= PER_KEY) return 'rate_limited'
  return bytesAnswer(places, tenant, jobs + 1, announced)
}

describe('admission', () => {
  it('says to each sequence what plain sums say, and is empty once all have left', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: 'max' }), steps => {
        const admission = createAdmission({
          limits: () => ({ maxJobs: MAX.jobs, maxBytes: MAX.bytes, maxWaitMs: MAX.waitMs }),
          waitMs: () => 0,
          tenants: () => TENANTS.length,
        })
        const places: Place[] = []
        for (const each of steps) {
          const place = each.kind === 'enter' ? undefined : places[each.at % places.length]
          if (each.kind === 'enter') {
            const { tenant, announced } = each
            const keyId = `${tenant}${each.key}`
            const expected = enterAnswer(places, tenant, keyId, announced)
            const holder = { tenant, keyId, maxConcurrent: PER_KEY }
            const said = refusal(() => {
              const ticket = admission.enter(holder, announced)
              places.push({ ticket, tenant, keyId, bytes: 0 })
            })
            expect(said).toBe(expected)
          } else if (place === undefined) {
            continue
          } else if (each.kind === 'grow') {
            const { jobs } = sums(places, ({ tenant }) => tenant === place.tenant)
            const expected = bytesAnswer(places, place.tenant, jobs, each.bytes)
            expect(refusal(() => place.ticket.grow(each.bytes))).toBe(expected)
            if (expected === 'none') place.bytes += each.bytes
          } else if (each.kind === 'add') {
            place.ticket.add(each.bytes)
            place.bytes += each.bytes
          } else {
            place.ticket.leave()
            place.ticket.leave()
            places.splice(places.indexOf(place), 1)
          }
          expect({ jobs: admission.jobs, bytes: admission.bytes }).toEqual(sums(places))
        }
        for (const { ticket } of places) ticket.leave()
        expect([admission.jobs, admission.bytes]).toEqual([0, 0])
        // Nothing is remembered of anybody: each finds all that a lone tenant finds.
        for (const tenant of TENANTS) {
          const holder = { tenant, keyId: `${tenant}0`, maxConcurrent: PER_KEY }
          const tickets = Array.from({ length: PER_KEY }, () => admission.enter(holder, 0))
          expect(refusal(() => admission.enter(holder, 0))).toBe('rate_limited')
          for (const ticket of tickets) ticket.leave()
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('gives one tenant at most half, and lets each newcomer in, whatever the others do', () => {
    const jobs = fc.integer({ min: 4, max: 2_000 })
    fc.assert(
      fc.property(jobs, maxJobs => {
        const admission = createAdmission({
          limits: () => ({ maxJobs, maxBytes: 1, maxWaitMs: 1 }),
          waitMs: () => 0,
          tenants: () => 100,
        })
        // Each fills its part before the next one comes: a half, a quarter, and so on.
        for (let n = 0; n < Math.floor(Math.log2(maxJobs)); n++) {
          const holder = { tenant: `${n}`, keyId: `${n}`, maxConcurrent: Number.POSITIVE_INFINITY }
          const free = maxJobs - admission.jobs
          const before = admission.jobs
          while (refusal(() => admission.enter(holder, 0)) === 'none');
          expect(admission.jobs - before).toBe(Math.ceil(free / 2))
        }
      }),
      { numRuns: runs(50) },
    )
  })
})
