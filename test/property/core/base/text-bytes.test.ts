import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TEXT_TYPES, toBytes, toText } from '../../../../src/core/base/text-bytes.ts'

/** Texts of single code units, lone surrogates among them. */
const text = fc
  .array(fc.oneof(fc.nat(0x7f), fc.integer({ min: 0xd7f0, max: 0xe010 }), fc.nat(0xffff)))
  .map(units => String.fromCharCode(...units))

it('a kept text comes back as it was', () => {
  fc.assert(
    fc.property(text, content => {
      const kept = toBytes(content)
      expect(toText(kept)).toBe(content)
      const isUtf8 = kept.media_type === TEXT_TYPES.utf8
      expect(isUtf8).toBe(content.isWellFormed())
      if (isUtf8) expect(Buffer.from(kept.bytes).toString()).toBe(content)
    }),
  )
})

it('two texts that differ have bytes that differ, whatever their types', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const same = Buffer.compare(toBytes(a).bytes, toBytes(b).bytes) === 0
      expect(same).toBe(a === b)
    }),
  )
  // As UTF-16 the first has the bytes that the second has as UTF-8.
  const [first, second] = ['\ud800\u0080', '\u0000\u0600\u0000'].map(each => toBytes(each).bytes)
  expect(first).not.toEqual(second)
})
