import { describe, expect, it } from 'vitest'
import { LOCAL } from '../../../src/access/access.ts'
import {
  type Admission,
  type AdmissionLimits,
  type AdmissionOptions,
  createAdmission,
  type Holder,
  type Ticket,
} from '../../../src/pool/admission.ts'

const OVERLOADED = expect.objectContaining({
  code: 'overloaded',
  extras: { retry_after_s: expect.any(Number) },
})

/** Admission of one tenant, unless told otherwise. */
function admitting(limits: Partial<AdmissionLimits>, options: Partial<AdmissionOptions> = {}) {
  const all = { maxJobs: 1000, maxBytes: 1000, maxWaitMs: 1000, ...limits }
  return createAdmission({ limits: () => all, waitMs: () => 0, tenants: () => 1, ...options })
}

const of = (tenant: string, keyId = tenant, maxConcurrent = Number.POSITIVE_INFINITY): Holder => ({
  tenant,
  keyId,
  maxConcurrent,
})

/** Enters until it is refused; gives the tickets. */
function fill(admission: Admission, holder: Holder): Ticket[] {
  const tickets: Ticket[] = []
  while (refused(() => tickets.push(admission.enter(holder, 0))) === undefined);
  return tickets
}

function refused(attempt: () => unknown): unknown {
  try {
    attempt()
  } catch (error) {
    return error
  }
  return undefined
}

describe('admission', () => {
  it('lets a key have the places that processes leave it, and notes what it has', () => {
    const noted: number[] = []
    const shared = { most: () => 2, note: (running: number) => void noted.push(running) }
    const admission = admitting({})
    const tickets = fill(admission, { ...of('a', 'a', 3), shared })
    expect(tickets).toHaveLength(2)
    expect(fill(admission, { ...of('b', 'b', 1), shared })).toHaveLength(1)
    for (const each of tickets) each.leave()
    expect(noted).toEqual([1, 2, 1, 1, 0])
  })

  it('lets a job wait for as long as it can, if that is longer than others may', () => {
    const admission = admitting({ maxWaitMs: 1000 }, { waitMs: () => 1500 })
    expect(() => admission.enter(LOCAL, 0, 'encode')).toThrow(OVERLOADED)
    expect(() => admission.enter(LOCAL, 0, 'rewrite', 1499)).toThrow(OVERLOADED)
    admission.enter(LOCAL, 0, 'rewrite', 1500)
    expect(admission.jobs).toBe(1)
  })

  it('is bounded in jobs, and frees a place once', () => {
    const admission = admitting({ maxJobs: 2, maxBytes: 100 })
    const first = admission.enter(LOCAL, 10)
    first.grow(10)
    admission.enter(LOCAL, 10).grow(10)
    expect(refused(() => admission.enter(LOCAL, 0))).toEqual(OVERLOADED)
    first.leave()
    first.leave()
    expect([admission.jobs, admission.bytes]).toEqual([1, 10])
    admission.enter(LOCAL, 0)
    expect(refused(() => admission.enter(LOCAL, 0))).toEqual(OVERLOADED)
  })

  it('is bounded in bytes: those that arrived, and those that are announced on top', () => {
    const admission = admitting({ maxJobs: 9, maxBytes: 100 })
    const ticket = admission.enter(LOCAL, 60)
    ticket.grow(60)
    expect(refused(() => admission.enter(LOCAL, 41))).toEqual(OVERLOADED)
    ticket.grow(40)
    expect(refused(() => ticket.grow(1))).toEqual(OVERLOADED)
    expect(admission.bytes).toBe(100)
    ticket.leave()
    expect([admission.jobs, admission.bytes]).toEqual([0, 0])
  })

  it('keeps nobody out for bytes that were only announced', () => {
    const admission = admitting({ maxJobs: 9, maxBytes: 100 })
    for (let i = 0; i < 5; i++) admission.enter(LOCAL, 100)
    expect(() => admission.enter(LOCAL, 100).grow(100)).not.toThrow()
  })

  it('counts answers that wait to be read, whatever their size', () => {
    const admission = admitting({ maxJobs: 9, maxBytes: 100 })
    const ticket = admission.enter(LOCAL, 0)
    ticket.add(150)
    expect(refused(() => admission.enter(LOCAL, 1))).toEqual(OVERLOADED)
    ticket.leave()
    expect(() => admission.enter(LOCAL, 1)).not.toThrow()
  })
})

describe('among several tenants', () => {
  const RATE_LIMITED = expect.objectContaining({
    code: 'rate_limited',
    extras: { retry_after_s: 1 },
  })
  const shared = (limits: Partial<AdmissionLimits>) => admitting(limits, { tenants: () => 9 })

  it('one alone gets half of the places, two a third each, and newcomers get in', () => {
    const admission = shared({ maxJobs: 300 })
    expect(fill(admission, of('a'))).toHaveLength(150)
    expect(refused(() => admission.enter(of('a'), 0))).toEqual(RATE_LIMITED)
    const b = fill(admission, of('b'))
    expect(b).toHaveLength(75)
    for (const name of ['c', 'd', 'e']) expect(() => admission.enter(of(name), 0)).not.toThrow()
    for (const ticket of b) ticket.leave()
    expect(fill(admission, of('b')).length).toBeGreaterThan(70)
  })

  it('all places are full at some time, and that is nobody’s share', () => {
    const admission = shared({ maxJobs: 3 })
    for (const name of ['a', 'b', 'c']) admission.enter(of(name), 0)
    expect(refused(() => admission.enter(of('d'), 0))).toEqual(OVERLOADED)
  })

  it('one alone may take all places where it is the only one there is', () => {
    expect(fill(admitting({ maxJobs: 300 }), of('a'))).toHaveLength(300)
  })

  it('keys of one tenant share its part', () => {
    const admission = shared({ maxJobs: 100 })
    expect(fill(admission, of('a', 'first'))).toHaveLength(50)
    expect(refused(() => admission.enter(of('a', 'second'), 0))).toEqual(RATE_LIMITED)
  })

  it('the only body of one may have any size, and a second one not', () => {
    const admission = shared({ maxBytes: 100 })
    const only = admission.enter(of('a'), 100)
    only.grow(60)
    only.grow(40)
    only.leave()
    admission.enter(of('a'), 60).grow(60)
    expect(refused(() => admission.enter(of('a'), 10))).toEqual(RATE_LIMITED)
    expect(() => admission.enter(of('b'), 40).grow(40)).not.toThrow()
    expect(refused(() => admission.enter(of('c'), 1))).toEqual(OVERLOADED)
  })

  it('one alone gets half of the bytes, checked as they arrive too', () => {
    const admission = shared({ maxBytes: 100 })
    const tickets = Array.from({ length: 5 }, () => admission.enter(of('a'), 0))
    for (const ticket of tickets) ticket.grow(10)
    expect(refused(() => tickets[0]?.grow(1))).toEqual(RATE_LIMITED)
    expect(admission.bytes).toBe(50)
    for (const ticket of tickets) ticket.leave()
    expect([admission.jobs, admission.bytes]).toEqual([0, 0])
  })

  it('a place that was refused leaves nothing behind', () => {
    const admission = shared({ maxJobs: 10, maxBytes: 100 })
    for (let i = 0; i < 20; i++) refused(() => admission.enter(of('a'), 101))
    expect([admission.jobs, admission.bytes]).toEqual([0, 0])
    expect(fill(admission, of('a'))).toHaveLength(5)
  })
})

describe('a queue that is long', () => {
  it('refuses whoever would wait too long, with the time to wait', () => {
    const waits: Record<string, number> = { slow: 2_500, quick: 1_000 }
    const admission = admitting(
      { maxWaitMs: 1_000 },
      { waitMs: ({ tenant }) => waits[tenant] ?? 0 },
    )
    expect(refused(() => admission.enter(of('slow'), 0))).toEqual(
      expect.objectContaining({ code: 'overloaded', extras: { retry_after_s: 3 } }),
    )
    expect(() => admission.enter(of('quick'), 0)).not.toThrow()
    expect(admission.jobs).toBe(1)
  })

  it('knows the operation and the announced bytes, where a thread is needed', () => {
    const asked: object[] = []
    const waitMs: AdmissionOptions['waitMs'] = job => {
      asked.push(job)
      return 0
    }
    const admission = admitting({}, { waitMs })
    admission.enter(of('a'), 7, 'encode')
    admission.enter(of('a'), 7)
    expect(asked).toEqual([
      { tenant: 'a', op: 'encode', bytes: 7 },
      { tenant: 'a', op: '', bytes: 0 },
    ])
  })

  it('is bounded by limits that a reload may change', () => {
    let maxJobs = 2
    const limits = () => ({ maxJobs, maxBytes: 100, maxWaitMs: 1_000 })
    const admission = createAdmission({ limits, waitMs: () => 0, tenants: () => 1 })
    const tickets = fill(admission, of('a'))
    maxJobs = 1
    tickets[0]?.leave()
    expect(refused(() => admission.enter(of('a'), 0))).toEqual(OVERLOADED)
    maxJobs = 5
    expect(fill(admission, of('a'))).toHaveLength(4)
  })
})

describe('requests of one key at the same time', () => {
  it('are bounded, each key by itself', () => {
    const admission = admitting({})
    const tickets = fill(admission, of('a', 'narrow', 3))
    expect(tickets).toHaveLength(3)
    expect(refused(() => admission.enter(of('a', 'narrow', 3), 0))).toEqual(
      expect.objectContaining({ code: 'rate_limited', extras: { retry_after_s: 1 } }),
    )
    expect(fill(admission, of('a', 'other', 2))).toHaveLength(2)
    tickets[0]?.leave()
    tickets[0]?.leave()
    expect(fill(admission, of('a', 'narrow', 3))).toHaveLength(1)
  })

  it('follow a limit that changed', () => {
    const admission = admitting({})
    fill(admission, of('a', 'key', 2))
    expect(fill(admission, of('a', 'key', 5))).toHaveLength(3)
    expect(fill(admission, of('a', 'key', 1))).toHaveLength(0)
  })
})
