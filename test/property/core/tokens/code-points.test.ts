import { expect, it } from 'vitest'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import { tiktokenIds } from '../../../../src/runtime/tiktoken.ts'
import { FULL_RUNS, SEED } from '../../../support/runs.ts'
import { someOf } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'

/** A short run looks at every fortieth, other ones each time. */
const STEP = FULL_RUNS ? 1 : 40

it.each(someOf(ENCODINGS, 1))('every single code point counts as in tiktoken: %s', encoding => {
  const counter = counters.get(encoding)
  const wrong: string[] = []
  for (let point = SEED % STEP; point < 0x110000; point += STEP) {
    const text = String.fromCodePoint(point)
    if (counter.count(text) !== tiktokenIds(text, encoding).length) wrong.push(point.toString(16))
  }
  expect(wrong).toEqual([])
})
