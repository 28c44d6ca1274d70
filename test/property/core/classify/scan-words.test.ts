import fc from 'fast-check'
import { expect, it } from 'vitest'
import { noFindings, scanText } from '../../../../src/core/classify/inner-formats.ts'
import { scanWords, type WordFacts } from '../../../../src/core/classify/scan-words.ts'
import { runs } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'

const part = fc.constantFrom(
  'Some words of prose stand here, one after the other. ',
  'And is it a sentence? ',
  'deadbee1 ',
  '----------',
  '1234567890',
  'word ',
  'é',
  '_',
)
const text = fc.array(part, { minLength: 4, maxLength: 30 }).map(parts => parts.join(''))

it('tells prose and hashes as if the whole text had been looked at', () => {
  fc.assert(
    fc.property(text, content => {
      const found = noFindings()
      scanText(content, found)
      const { hash, words, sentences, letters } = scanWords(content, false, content.length)
      expect(found.hash).toBe(hash)
      expect(found.prose).toBe(words >= 20 && sentences >= 2 && letters >= content.length * 0.8)
    }),
    { numRuns: runs(20_000) },
  )
})

/** The same by regular expressions, on a text without white space beyond ASCII. */
function expectedFacts(content: string): WordFacts {
  const words = content.match(/[\w\u0080-\uffff]+/g) ?? []
  return {
    hash: words.some(word => /^(?=.*\d)(?=.*[a-f])[\da-f]{7,64}$/i.test(word)),
    words: words.filter(word => !/[\d_]/.test(word)).length,
    sentences:
      content.match(/(?<![\d_\w\u0080-\uffff])[a-zA-Z\u0080-\uffff]+[.!?](?![^\s])/g)?.length ?? 0,
    letters: content.replace(/[^a-zA-Z\u0080-\uffff\t-\r ]/g, '').length + 1,
  }
}

const piece = fc.constantFrom(
  ...['a', 'f', 'g', 'Z', '1', '9', '_', '.', '!', '? ', ' ', '\n', 'é', '→', '😀', '\ud83d', '-'],
  ...['deadbeef', '1234567', 'word ', 'ab. ', '\u0000', 'c0ffee1'],
)
const pieces = fc.array(piece, { maxLength: 30 }).map(parts => parts.join(''))
/** Texts of which one, in UTF-8, is nearly or just longer than a block of `scanWords`. */
const filling = fc.constantFrom(
  '',
  'f'.repeat(65_530),
  'é'.repeat(32_765),
  `${' '.repeat(65_500)}a1`,
)

it('counts as regular expressions do, across blocks too', () => {
  fc.assert(
    fc.property(filling, pieces, (before, after) => {
      const content = before + after
      expect(scanWords(content, false, content.length)).toEqual(expectedFacts(content))
    }),
    { numRuns: fewRuns(5_000, 60) },
  )
})
