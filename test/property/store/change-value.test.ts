import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openChange, sealChange } from '../../../src/store/redis/change-value.ts'
import { createCodec, UnreadableError } from '../../../src/store/values/codec.ts'
import { runs } from '../../support/runs.ts'

const WRITER = 'ab'.repeat(6)
const KEYS = [{ id: 'k1', key: new Uint8Array(32).fill(3) }]
const plain = createCodec({ keys: [], compressFromBytes: null })
const sealed = createCodec({ keys: KEYS, compressFromBytes: null })
const BINDING = Buffer.from('of a session')

const change = fc.record({
  bytes: fc.oneof(
    fc.uint8Array({ maxLength: 600 }),
    fc.json().map(text => new Uint8Array(Buffer.from(text))),
    fc.nat(20_000).map(count => new Uint8Array(count)),
  ),
  texts: fc.array(
    fc.record({
      identity: fc.nat().map(seed => hash('sha256', `${seed}`)),
      bytes: fc.nat(0xffff_ffff),
    }),
    { maxLength: 4 },
  ),
})

describe.each([plain, sealed])('a change of a session', codec => {
  it('is what was sealed', () => {
    fc.assert(
      fc.property(change, each => {
        const value = sealChange(codec, each, WRITER, BINDING)
        const { writer, bytes, texts } = openChange(codec, value, BINDING)
        expect([writer, Buffer.from(bytes), texts]).toEqual([
          WRITER,
          Buffer.from(each.bytes),
          each.texts,
        ])
      }),
      { numRuns: runs(300) },
    )
  })

  it('is read whole or not at all, whatever became of its bytes', () => {
    fc.assert(
      fc.property(change, fc.nat(), fc.integer({ min: 1, max: 255 }), (each, place, bits) => {
        const value = sealChange(codec, each, WRITER, BINDING)
        const at = place % value.length
        const damaged = Buffer.from(value)
        damaged[at]! ^= bits
        for (const wrong of [damaged, value.subarray(0, at)]) {
          expect(() => openChange(codec, wrong, BINDING)).toThrow(UnreadableError)
        }
        expect(() => openChange(codec, value, Buffer.from('of another'))).toThrow(UnreadableError)
      }),
      { numRuns: runs(500) },
    )
  })
})
