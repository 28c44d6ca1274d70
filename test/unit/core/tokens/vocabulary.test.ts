import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packVocabulary } from '../../../../src/core/tokens/pack-vocabulary.ts'
import { isSealedVocabulary, openVocabulary } from '../../../../src/core/tokens/vocabulary.ts'
import { runs, SEED } from '../../../support/runs.ts'
import { vocabularies } from '../../../support/vocabularies.ts'

/** More than a header has. */
const HEADER_BYTES = 64

const BYTES = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte]).toString('base64'))

function ranks(...more: string[]): string {
  return `! 0 ${[...BYTES, ...more.map(token => Buffer.from(token).toString('base64'))].join(' ')}`
}

describe('packed vocabulary', () => {
  it('holds every token of both encodings', () => {
    for (const [encoding, tokens] of [
      ['o200k_base', 199_998],
      ['cl100k_base', 100_256],
    ] as const) {
      const opened = openVocabulary(vocabularies[encoding])
      expect(opened.tokenStarts.length - 1).toBe(tokens)
      expect(isSealedVocabulary(vocabularies[encoding], encoding)).toBe(true)
    }
  })

  it('packs the same bytes each time, over several lines of ranks', () => {
    const one = packVocabulary('o200k_base', ranks('ab', 'cd', 'abcd'))
    const lines = ranks('ab', 'cd').concat(`\n! 258 ${Buffer.from('abcd').toString('base64')}\n`)
    const other = packVocabulary('o200k_base', lines)
    expect(Buffer.from(other).equals(Buffer.from(one))).toBe(true)
  })

  it('refuses ranks that are not a vocabulary', () => {
    expect(() => packVocabulary('o200k_base', '! 5 IQ==')).toThrow(RangeError)
    expect(() => packVocabulary('o200k_base', '! 0 IQ== Ig==')).toThrow(/2 of 256 bytes/)
    expect(() => packVocabulary('o200k_base', ranks('abcd'))).toThrow(/not made of two earlier/)
    expect(() => packVocabulary('o200k_base', ranks('abc', 'ab'))).toThrow(
      /not made of two earlier/,
    )
  })

  it('a packed vocabulary notices damage anywhere', () => {
    const whole = packVocabulary('cl100k_base', ranks('ab'))
    expect(isSealedVocabulary(whole, 'cl100k_base')).toBe(true)
    expect(isSealedVocabulary(whole, 'o200k_base')).toBe(false)
    const bytes = new Uint8Array(whole)
    const end = whole.byteLength - 1
    const anywhere = fc.sample(fc.nat(end), { numRuns: runs(1_000), seed: SEED })
    for (const at of [...Array(HEADER_BYTES).keys(), end - 3, end, ...anywhere]) {
      bytes[at]! ^= 0x10
      expect(isSealedVocabulary(whole, 'cl100k_base'), `damage at ${at}`).toBe(false)
      bytes[at]! ^= 0x10
    }
    expect(isSealedVocabulary(whole, 'cl100k_base')).toBe(true)
    expect(isSealedVocabulary(new SharedArrayBuffer(0), 'cl100k_base')).toBe(false)
    expect(isSealedVocabulary(new SharedArrayBuffer(64), 'cl100k_base')).toBe(false)
  })

  it('is not opened unless it is one', () => {
    expect(() => openVocabulary(new SharedArrayBuffer(8))).toThrow(RangeError)
    expect(() => openVocabulary(new SharedArrayBuffer(640))).toThrow(RangeError)
    const whole = packVocabulary('cl100k_base', ranks('ab'))
    const longer = new SharedArrayBuffer(whole.byteLength + 8)
    new Uint8Array(longer).set(new Uint8Array(whole))
    expect(() => openVocabulary(longer)).toThrow(/length/)
    new Int32Array(longer)[2] = 9
    expect(() => openVocabulary(longer)).toThrow(/encoding/)
  })
})
