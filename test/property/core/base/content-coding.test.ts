import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ContentCoding,
  contentCodingOf,
  decodeBody,
  encodeBody,
} from '../../../../src/core/base/content-coding.ts'

const CODINGS: readonly ContentCoding[] = ['gzip', 'deflate', 'br', 'zstd']
const coding = fc.constantFrom(...CODINGS)
const bytes = fc.uint8Array({ maxLength: 5_000 })
const NO_LIMIT = 1 << 20

describe('a content coding', () => {
  it('gives back what it was given, the same each time', () => {
    fc.assert(
      fc.property(bytes, coding, (body, name) => {
        const encoded = encodeBody(body, name)
        expect(encodeBody(body, name)).toEqual(encoded)
        expect(new Uint8Array(decodeBody(encoded, name, NO_LIMIT)!)).toEqual(body)
      }),
    )
  })

  it('gives nothing above the limit', () => {
    fc.assert(
      fc.property(bytes, coding, (body, name) => {
        fc.pre(body.length > 1)
        expect(decodeBody(encodeBody(body, name), name, body.length - 1)).toBeNull()
      }),
    )
  })

  // Node takes some inputs of less than four bytes for the beginning of another frame of zstd.
  it('gives nothing where something stands behind the end', () => {
    fc.assert(
      fc.property(
        bytes,
        fc.uint8Array({ minLength: 4, maxLength: 9 }),
        coding,
        (body, rest, name) => {
          const encoded = encodeBody(body, name)
          expect(decodeBody(Buffer.concat([encoded, rest]), name, NO_LIMIT)).toBeNull()
        },
      ),
    )
  })

  it('never fails otherwise than with null', () => {
    fc.assert(
      fc.property(
        bytes,
        coding,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (body, name, at, flip) => {
          const damaged = Uint8Array.from(encodeBody(body, name))
          const index = at % damaged.length
          damaged[index] = damaged[index]! ^ flip
          for (const each of [body, damaged, damaged.subarray(0, index)]) {
            const read = decodeBody(each, name, NO_LIMIT)
            expect(read === null || read.length <= NO_LIMIT).toBe(true)
          }
        },
      ),
    )
  })

  it('gives nothing for a window that HTTP does not have', () => {
    // A frame of one raw block, written by hand: encoders choose no window that the body does not
    // need (RFC 8878 §3.1.1).
    const within = (log: number) =>
      Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3, (2 << 3) | 1, 0, 0, 0x7b, 0x7d)
    expect(decodeBody(within(23), 'zstd', NO_LIMIT)).toEqual(Buffer.from('{}'))
    expect(decodeBody(within(24), 'zstd', NO_LIMIT)).toBeNull()
  })

  it.each([
    ['zstd', 'zstd'],
    [' GZIP ', 'gzip'],
    ['x-gzip', 'gzip'],
    ['identity', null],
    ['gzip, zstd', null],
    ['toString', null],
    ['', null],
  ])('is named by %j', (header, name) => {
    expect(contentCodingOf(header)).toBe(name)
  })
})
