import fc from 'fast-check'
import { expect, it } from 'vitest'
import { noFindings, scanText } from '../../../../src/core/classify/inner-formats.ts'
import { scanWords } from '../../../../src/core/classify/scan-words.ts'
import { runs } from '../../../support/runs.ts'

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
