import fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonLength, writeJson } from '../../../../src/core/json/write-json.ts'
import { runs } from '../../../support/runs.ts'
import { arbitraryDocument } from './arbitrary-value.ts'

it('measures every value as long as it is written, and says when that is too long', () => {
  fc.assert(
    fc.property(arbitraryDocument, fc.nat(400), (value, limit) => {
      const { length } = writeJson(value)
      expect(jsonLength(value, Number.POSITIVE_INFINITY)).toBe(length)
      expect(jsonLength(value, limit) > limit).toBe(length > limit)
    }),
    { numRuns: runs(3000) },
  )
})
