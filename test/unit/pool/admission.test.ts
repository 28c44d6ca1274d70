import { describe, expect, it } from 'vitest'
import { LOCAL } from '../../../src/access/access.ts'
import {
  type AdmissionLimits,
  type AdmissionOptions,
  createAdmission,
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

function refused(attempt: () => unknown): unknown {
  try {
    attempt()
  } catch (error) {
    return error
  }
  return undefined
}

describe('admission', () => {
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
