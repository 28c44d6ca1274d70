import { expect, it } from 'vitest'
import { tokenIds } from '../../../src/core/tokens/token-ids.ts'
import { ENCODINGS } from '../../../src/core/tokens/vocabulary.ts'
import { counters } from '../../unit/tokens/loaded.ts'

it.each(ENCODINGS)('every single code point counts as in tiktoken: %s', encoding => {
  const counter = counters.get(encoding)
  const wrong: string[] = []
  for (let point = 0; point < 0x110000; point++) {
    const text = String.fromCodePoint(point)
    if (counter.count(text) !== tokenIds(text, encoding).length) wrong.push(point.toString(16))
  }
  expect(wrong).toEqual([])
})
