import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compressed } from '../../../src/core/base/zlib-calls.ts'
import { packChunks, unpackBody } from '../../../src/store/parts/packed-body.ts'
import { UnreadableError } from '../../../src/store/values/codec.ts'
import { runs } from '../../support/runs.ts'

/** Repeated bytes become smaller, others do not. */
const bodies = fc
  .array(fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.integer({ min: 1, max: 20 })))
  .map(pieces => Buffer.concat(pieces.flatMap(([piece, times]) => Array(times).fill(piece))))
const sizes = fc.integer({ min: 1, max: 300 })

function packed(body: Uint8Array, chunkBytes: number) {
  const chunks = Array.from({ length: Math.ceil(body.length / chunkBytes) }, (_, index) => {
    const raw = body.subarray(index * chunkBytes, (index + 1) * chunkBytes)
    const smaller = compressed(raw)
    return { bytes: smaller ?? raw, isCompressed: smaller !== undefined }
  })
  return { packed: packChunks(chunks), bytes: body.length, chunkBytes }
}

describe('a packed body', () => {
  test('is the body again', () => {
    const isSame = (body: Buffer, chunkBytes: number) =>
      Buffer.compare(unpackBody(packed(body, chunkBytes)), body) === 0
    fc.assert(fc.property(bodies, sizes, isSame), { numRuns: runs(500) })
  })

  test('of another size is not read', () => {
    const body = Buffer.alloc(1000, 'abc')
    for (const chunkBytes of [1000, 400]) {
      const whole = packed(body, chunkBytes)
      for (const bytes of [999, 801]) {
        expect(() => unpackBody({ ...whole, bytes })).toThrow(UnreadableError)
      }
    }
  })
})
