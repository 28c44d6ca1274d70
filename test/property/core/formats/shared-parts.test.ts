import fc from 'fast-check'
import { expect, it } from 'vitest'
import { weighed } from '../../../../src/core/formats/json/json-format.ts'
import { FEWEST_TOKENS } from '../../../../src/core/formats/json/tree/style.ts'
import { treeInStyle } from '../../../../src/core/formats/json/tree/tree.ts'
import { PartMemo } from '../../../../src/core/formats/part-memo.ts'
import { replaceStrings } from '../../../../src/core/formats/text/replace-strings.ts'
import { ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { runs } from '../../../support/runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { arbitraryTree } from './tree-values.ts'

const counter = counters.get('o200k_base')
const format = treeInStyle(FEWEST_TOKENS)

/** A parser makes each value anew, and a document has each of them once. */
function structuredCopy(value: Value): Value {
  if (Array.isArray(value)) return value.map(structuredCopy)
  if (!(value instanceof ObjectValue)) return value
  return new ObjectValue(value.keys, value.values.map(structuredCopy))
}

/** Objects with one list of keys, some deeper than others, so that shapes and drafts are used. */
function nestedTwice(value: Value): Value {
  const alike = (inner: Value) =>
    new ObjectValue(['identifier', 'details', 'inner'], [1, 'x', inner])
  const copy = () => structuredCopy(value)
  return new ObjectValue(['first', 'second'], [alike(value), [alike([alike(copy()), copy()])]])
}

it('a text with parts of an earlier one is written as if that had never been', () => {
  fc.assert(
    fc.property(arbitraryTree, fc.infiniteStream(fc.nat(4)), (part, whims) => {
      const value = nestedTwice(part)
      const frame = replaceStrings(value, text => (whims.next().value === 0 ? 'text 1' : text))
      const memo = new PartMemo()
      expect(weighed(format, value, counter, memo)).toEqual(weighed(format, value, counter))
      expect(weighed(format, frame, counter, memo)).toEqual(weighed(format, frame, counter))
      // The same parts in other places.
      const moved = new ObjectValue(['moved'], [[frame]])
      expect(weighed(format, moved, counter, memo)).toEqual(weighed(format, moved, counter))
    }),
    { numRuns: runs(200) },
  )
})
