import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCodec, UnreadableError } from '../../../src/store/codec.ts'
import { openChange, sealChange } from '../../../src/store/redis/change-value.ts'
import { runs } from '../../support/runs.ts'

const WRITER = 'ab'.repeat(16)
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

/** A change as versions before wrote it, whose sealed bytes are not compressed. */
function unpacked(bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(24)
  head[0] = 1
  head.write(WRITER, 1, 'hex')
  head.writeUInt32LE(bytes.byteLength, 17)
  return Buffer.concat([head, plain.seal(bytes, BINDING)])
}

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
        const head = 23 + 36 * each.texts.length
        const damaged = Buffer.from(value)
        damaged[at]! ^= bits
        for (const wrong of [damaged, value.subarray(0, at)]) {
          try {
            const { bytes } = openChange(codec, wrong, BINDING)
            // The head names the writer and the texts, and is not sealed.
            expect([Buffer.from(bytes), at < head]).toEqual([Buffer.from(each.bytes), true])
          } catch (error) {
            expect(error).toBeInstanceOf(UnreadableError)
          }
        }
        expect(() => openChange(codec, value, Buffer.from('of another'))).toThrow(UnreadableError)
      }),
      { numRuns: runs(500) },
    )
  })
})

it('a change that was written before they were compressed is read', () => {
  const bytes = Buffer.from('[1,1,1,[]]')
  const { writer, bytes: read } = openChange(plain, unpacked(bytes), BINDING)
  expect([writer, String(read)]).toEqual([WRITER, String(bytes)])
})
