import { describe, expect, it } from 'vitest'
import { LIMITS, mergedFingerprintSchema } from '../../../../src/core/fingerprints/fingerprint.ts'
import { mergeUploads } from '../../../../src/core/fingerprints/merge-uploads.ts'
import { NOW, row } from '../../fingerprints/rows.ts'

describe('the most that members can upload', () => {
  it('adds up to what readers take, exactly', () => {
    const most = 1e11
    const each = [{ row: row({ call_count: most, source_sessions: most }), at: NOW }]
    const uploads = Array.from({ length: LIMITS.members }, () => each)
    const [merged] = mergeUploads(uploads, NOW).fingerprints
    const sum = LIMITS.members * most
    expect(mergedFingerprintSchema.parse(merged)).toMatchObject({
      call_count: sum,
      source_sessions: sum,
    })
    // With a row of an endpoint for every day of the window.
    expect(Number.isSafeInteger(32 * sum)).toBe(true)
  })
})
