import { expect, it } from 'vitest'
import { collectKeyLists } from '../../../../../../src/core/formats/json/tree/key-lists.ts'
import { ObjectValue } from '../../../../../../src/core/json/value.ts'

function object(...keys: readonly string[]): ObjectValue {
  return new ObjectValue(
    keys,
    keys.map(() => 1),
  )
}

it('joins equal lists of keys, and no others', () => {
  const value = [object('ab', 'c'), object('a', 'bc'), object('ab', 'c'), object('1:a', 'b')]
  expect(collectKeyLists(value)).toEqual([
    { keys: ['ab', 'c'], objects: [value[0], value[2]] },
    { keys: ['a', 'bc'], objects: [value[1]] },
    { keys: ['1:a', 'b'], objects: [value[3]] },
  ])
})

it('leaves out objects that have a key twice', () => {
  expect(collectKeyLists([object('a', 'a'), object('a', 'a')])).toEqual([])
})
