import fc from 'fast-check'
import { expect, it } from 'vitest'
import { noFindings, scanString, scanText } from '../../../../src/core/classify/inner-formats.ts'
import { runs } from '../../../support/runs.ts'

/** What formats begin with, and what hides it. */
const PARTS = [
  ...'\n\n\n \t|#`-"ad1T@{[<',
  '@@ -1,2 +1,2 @@',
  'diff --git a/x b/x',
  'Traceback (most recent call last):',
  '    at frame',
  '{"key": "some value"}',
  'deadbee1',
  'https://a.example',
  '<a></a><b></b>',
  '2026-01-31 23:59',
  '# title\n\n',
  '| a | b |\n|---|---|',
  '```',
  '1→',
  'key: value',
  'some words of prose stand here and there, one after the other in a row. ',
]

const text = fc.array(fc.constantFrom(...PARTS), { maxLength: 9 }).map(parts => parts.join(''))

it('finds in a string of JSON what it finds in a text', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 3 }), texts => {
      const [ofStrings, ofTexts] = [noFindings(), noFindings()]
      for (const each of texts) {
        scanString(each, ofStrings)
        scanText(each, ofTexts)
      }
      expect(ofStrings).toEqual(ofTexts)
    }),
    { numRuns: runs(20_000) },
  )
})
