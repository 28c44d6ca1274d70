import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../../src/core/fingerprints/fingerprint.ts'
import { mergeUploads } from '../../../../src/core/fingerprints/merge-uploads.ts'
import { DAY, NOW, row } from '../../fingerprints/rows.ts'

/** Rows of numbered endpoints with so many sessions each, uploaded so many days ago. */
function upload(from: number, to: number, sessions: number, days: number) {
  const rows = Array.from({ length: to - from }, (_, index) =>
    row({ endpoint_class: `e${from + index}`, source_sessions: sessions, call_count: 100 }),
  )
  return rows.map(each => ({ row: each, at: NOW - days * DAY }))
}

describe('a merge of more endpoints than are shown', () => {
  it('leaves out those of the fewest sessions, and counts them', () => {
    const uploads = [
      upload(0, LIMITS.endpoints, 10, 0),
      // Stale, and with more; some of them are known by fresher rows too, which alone count.
      upload(LIMITS.endpoints - 20, LIMITS.endpoints + 5, 50, 20),
      upload(0, 7, 5, 0),
      upload(LIMITS.endpoints + 5, LIMITS.endpoints + 8, 10, 0),
      upload(LIMITS.endpoints + 8, LIMITS.endpoints + 10, 500, 31),
    ]
    const { fingerprints, left_out } = mergeUploads(uploads, NOW)
    expect([fingerprints.length, left_out]).toEqual([LIMITS.endpoints, 8])
    const names = fingerprints.map(({ endpoint_class }) => endpoint_class)
    // The last by name of equal ones are left out.
    const equal = Array.from({ length: LIMITS.endpoints + 8 }, (_, index) => `e${index}`)
      .filter(
        (_, index) => index >= 7 && (index < LIMITS.endpoints || index >= LIMITS.endpoints + 5),
      )
      .sort()
    expect(equal.slice(-8).some(name => names.includes(name))).toBe(false)
    expect(names.slice(-5)).toEqual([0, 1, 2, 3, 4].map(more => `e${LIMITS.endpoints + more}`))
    expect(fingerprints.slice(-6).map(({ stale }) => stale)).toEqual([
      false,
      ...Array.from({ length: 5 }, () => true),
    ])
    const sessionsOf = (name: string) => fingerprints[names.indexOf(name)]?.source_sessions
    expect(['e0', 'e100', `e${LIMITS.endpoints}`].map(sessionsOf)).toEqual([15, 10, 50])
  })
})
