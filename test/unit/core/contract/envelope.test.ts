import { Packr } from 'msgpackr'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { readEnvelope, writeEnvelope } from '../../../../src/core/contract/envelope.ts'
import { bytesOf } from '../../../support/runner.ts'

const LIMITS = { maxDepth: 8, maxValues: 100 }
const packr = new Packr({ useRecords: false, variableMapSize: true })

function refusal(bytes: Uint8Array, media: 'json' | 'msgpack'): string {
  try {
    readEnvelope(bytes, media, LIMITS)
  } catch (error) {
    if (error instanceof AppError) return `${error.code}: ${error.detail}`
    throw error
  }
  return 'accepted'
}

describe('JSON envelopes', () => {
  it.each([
    ['an object', '{"content":"a\\"[[[[[[[[[[[[[","n":[1,{"x":null}]}'],
    ['a BOM before it', '\u{feff}{"content":"x"}'],
    ['brackets and escapes inside strings', JSON.stringify({ a: '[{"\\'.repeat(50) })],
    ['brackets inside a large string', JSON.stringify({ a: '[{"\\,'.repeat(20_000) })],
    ['nesting at the limit', `${'['.repeat(8)}${']'.repeat(8)}`],
  ])('reads %s', (_, text) => {
    const expected = JSON.parse(text.replace('\u{feff}', ''))
    expect(readEnvelope(bytesOf(text), 'json', LIMITS)).toEqual(expected)
  })

  it.each([
    ['nothing', '', 'empty'],
    ['truncated text', '{"content":"abc', 'not valid JSON'],
    ['a truncated escape', '{"content":"abc\\', 'not valid JSON'],
    ['text that is none', 'hello', 'not valid JSON'],
    ['nesting above the limit', '['.repeat(9) + ']'.repeat(9), 'deeper than 8'],
    ['100,000 levels', '['.repeat(100_000), 'deeper than 8'],
    ['too many values', JSON.stringify(Array(101).fill(0)), 'more than 100 values'],
    [
      'too many values in a large body',
      JSON.stringify(Array(40_000).fill(0)),
      'more than 100 values',
    ],
    ['truncated large text', `{"content":"${'x'.repeat(70_000)}`, 'not valid JSON'],
    ['too many empty containers', `[${'[],'.repeat(60)}[]]`, 'more than 100 values'],
  ])('refuses %s', (_, text, reason) => {
    expect(refusal(bytesOf(text), 'json')).toContain(reason)
  })

  it('refuses bytes that are not UTF-8 instead of replacing them', () => {
    const bytes = bytesOf('{"content":"x"}')
    bytes[12] = 0xff
    expect(refusal(bytes, 'json')).toContain('UTF-8')
  })
})

describe('MessagePack envelopes', () => {
  it.each([
    { content: 'héllo', list: [1, -1, 1.5, null, true], map: { a: { b: [] } } },
    { numbers: [127, 128, 255, 256, 65_535, 65_536, 2 ** 32, -32, -33, -129, -40_000, -(2 ** 40)] },
    { long: 'x'.repeat(40), longer: 'y'.repeat(300), longest: 'z'.repeat(70_000) },
    { wide: Array.from({ length: 40 }, (_, i) => i) },
  ])('reads what the library wrote %#', value => {
    const limits = { maxDepth: 8, maxValues: 1000 }
    expect(readEnvelope(packr.pack(value), 'msgpack', limits)).toEqual(value)
  })

  it.each([
    ['nothing', [], 'empty'],
    ['a truncated string', [0xa5, 0x61], 'truncated'],
    ['a map without its values', [0x82, 0xa1, 0x61], 'truncated'],
    ['an array that announces 4 G elements', [0xdd, 0xff, 0xff, 0xff, 0xff], 'truncated'],
    ['a string that announces 4 GB', [0xdb, 0xff, 0xff, 0xff, 0xff], 'truncated'],
    ['a head cut in its length', [0xdc, 0x00], 'truncated'],
    ['an extension', [0xd4, 0x01, 0x00], 'tag 0xd4'],
    ['a record of the library', [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 0x01], 'tag 0xd4'],
    ['a never used tag', [0xc1], 'tag 0xc1'],
    ['bytes behind the value', [0x01, 0x02], 'ends at byte 1'],
    ['a string that is not UTF-8', [0xa2, 0xff, 0xfe], 'UTF-8'],
    ['deep arrays', [...Array(9).fill(0x91), 0x01], 'deeper than 8'],
    ['100,000 levels', Array(100_000).fill(0x91), 'deeper than 8'],
    ['too many values', [0xdc, 0x00, 0x66, ...Array(102).fill(0)], 'more than 100 values'],
  ])('refuses %s', (_, bytes, reason) => {
    expect(refusal(Uint8Array.from(bytes as number[]), 'msgpack')).toContain(reason)
  })
})

describe('answers', () => {
  it('are written in the media type that was asked for', () => {
    const answer = { content: 'ä', counts: [1, 2], nested: { ok: true, none: null } }
    const packed = writeEnvelope(answer, 'msgpack')
    expect(packed.media).toBe('msgpack')
    expect(packr.unpack(Buffer.from(packed.bytes))).toEqual(answer)
    const json = writeEnvelope(answer, 'json')
    expect(JSON.parse(Buffer.from(json.bytes).toString())).toEqual(answer)
  })

  it('with a lone surrogate are written as JSON, which can say it', () => {
    const answer = { deep: [{ content: 'a\ud800b' }] }
    const written = writeEnvelope(answer, 'msgpack')
    expect(written.media).toBe('json')
    expect(JSON.parse(Buffer.from(written.bytes).toString())).toEqual(answer)
  })
})
