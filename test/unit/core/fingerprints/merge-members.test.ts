import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blend } from '../../../../src/core/fingerprints/blend.ts'
import { type Fingerprint, LIMITS } from '../../../../src/core/fingerprints/fingerprint.ts'
import { mergeMembers } from '../../../../src/core/fingerprints/merge-members.ts'
import { runs } from '../../../support/runs.ts'
import { DAY, NOW, row } from '../../fingerprints/rows.ts'

type Row = Partial<Fingerprint>

function merge(own: readonly Row[], members: readonly (readonly Row[])[], uploaded = NOW) {
  const uploads = members.map(rows => rows.map(each => ({ row: row(each), at: uploaded })))
  return mergeMembers(own.map(row), uploads, NOW)
}

/** What a member may lie about. */
const LIE = { dup_rate: 1, call_count: 1e9, source_sessions: 1e8, avg_response_chars: 1e12 }
const honest = (calls: number): Row => ({ call_count: calls })

describe('what is published of members', () => {
  it('needs three of them, and own spans need none', () => {
    const mine = { call_count: 7, source_sessions: 6 }
    expect(merge([mine], [[honest(60)], [honest(61)]])).toMatchObject([{ call_count: 7 }])
    expect(merge([], [[honest(60)], [honest(61)]])).toEqual([])
    expect(merge([], [[honest(60)], [honest(61)], [honest(62)]])).toMatchObject([
      { endpoint_class: 'git_log', call_count: 183, source_sessions: 36, dup_rate: 0.1 },
    ])
    const all = merge([mine], [[honest(60)], [honest(61)], [honest(62)]])
    expect(all).toMatchObject([{ call_count: 190, source_sessions: 42 }])
  })

  it('counts by endpoint, and one member once, however many rows it has', () => {
    const many = [0, 1, 2].map(at => ({ last_seen_ms: NOW - at * DAY }))
    expect(merge([], [many, [honest(60)]])).toEqual([])
    const others = [{ endpoint_class: 'curl' }]
    expect(merge([], [[honest(60)], [honest(61)], others])).toEqual([])
  })

  it('has the spans of the publisher once, though a member uploads them too', () => {
    const mine = { call_count: 7, source_sessions: 6 }
    const members = [[mine], [honest(60)], [honest(61)], [honest(62)]]
    expect(merge([mine], members)).toEqual(merge([mine], members.slice(1)))
  })

  it('passes over rows that are too old', () => {
    const members = [[honest(60)], [honest(61)], [honest(62)]]
    expect(merge([], members, NOW - LIMITS.keptMs)).toEqual([])
  })

  it('gives a member that lies no more than half of any figure', () => {
    const [merged] = merge([], [[LIE], [honest(60)], [honest(60)]])
    expect(merged!.dup_rate).toBeCloseTo(0.55)
    expect(merged!.call_count).toBe(240)
    expect(merged!.source_sessions).toBe(48)
  })

  it('keeps the half for any members and any liar', () => {
    const sizes = fc.array(fc.integer({ min: 5, max: 1e6 }), { minLength: 2, maxLength: 8 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 5, max: 1e9 }), (others, sessions) => {
        const liar = { ...LIE, call_count: 1e10, source_sessions: sessions }
        const rows = others.map(each => {
          return [{ source_sessions: each, call_count: each, dup_rate: 0 }]
        })
        const [merged] = merge([], [[liar], ...rows])
        const honestCalls = others.reduce((sum, each) => sum + each, 0)
        expect(merged!.dup_rate).toBeLessThanOrEqual(0.5)
        expect(merged!.call_count).toBeLessThanOrEqual(2 * honestCalls)
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('a provider that says what is good for itself', () => {
  it('moves a blend by at most two fifths, and by less with each call of one’s own', () => {
    const lie = row({ ...LIE, dup_rate: 1 })
    const own = (call_count: number) => row({ call_count, source_sessions: 5, dup_rate: 0 })
    const share = (calls: number) => blend({ own: own(calls), provider: lie })!.fingerprint.dup_rate
    expect(share(20)).toBeCloseTo(0.2)
    expect(share(180)).toBeCloseTo(0.04)
    const team = { ...own(40), stale: false }
    const blended = blend({ team, provider: lie })!
    expect(blended.fingerprint.dup_rate).toBeCloseTo(0.4)
  })
})
