import fc from 'fast-check'
import { expect, it } from 'vitest'
import { tree } from '../../../../src/core/formats/json/tree/tree.ts'
import { ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { arbitraryTree } from './tree-values.ts'

/** What strings get in front or behind, so that they have a middle. */
const MORE = [
  '',
  '',
  'the quick brown fox-jumps over ',
  'https://a.example/v1/items?id=12&to=7',
  "it's 12:30'll do, or won't",
  'C:\\dir\\file name and more',
  'one line\nanother line, and a third',
  'say "hello world" again',
  'tab\tseparated words here',
  'über größe naïve café 漢字 and so on',
]

/** The value with longer strings, each by the next whim. */
function stretch(value: Value, more: () => string): Value {
  if (typeof value === 'string') return more() + value + more()
  if (value instanceof ObjectValue) {
    return new ObjectValue(
      value.keys,
      value.values.map(member => stretch(member, more)),
    )
  }
  return Array.isArray(value) ? value.map((item: Value) => stretch(item, more)) : value
}

const arbitraryLong = fc
  .tuple(arbitraryTree, fc.infiniteStream(fc.constantFrom(...MORE)))
  .map(([value, stream]) => stretch(value, () => stream.next().value))

it('what is left out of a count changes no choice and no price', () => {
  fc.assert(
    fc.property(arbitraryLong, fc.constantFrom(...ENCODINGS), (value, encoding) => {
      if (value === null || typeof value !== 'object') return
      const parts = counters.get(encoding)
      const { additive, ...whole } = parts
      expect(additive).toBe(true)
      expect(tree.encode(value, parts)).toBe(tree.encode(value, whole))
      expect(tree.explain!(value, parts)).toEqual(tree.explain!(value, whole))
    }),
    { numRuns: fewRuns(1_500, 20) },
  )
})
