import { describe, expect, it } from 'vitest'
import { collectKeyLists } from '../../../../../../src/core/formats/json/tree/key-lists.ts'
import { ObjectValue, type Value } from '../../../../../../src/core/json/value.ts'

/** An object with a list of keys of its own, as a parser makes one for keys that it forgot. */
function objectWith(keys: string): ObjectValue {
  return new ObjectValue(
    [...keys],
    [...keys].map(() => 1),
  )
}

function collected(...objects: readonly Value[]) {
  return collectKeyLists(objects).map(({ keys, objects }) => [keys.join(''), objects.length])
}

describe('lists of keys', () => {
  it('are merged if they are equal', () => {
    const [one, other] = [objectWith('ab'), objectWith('ab')]
    expect(collected(one, objectWith('ac'), other, one, objectWith('abc'))).toEqual([
      ['ab', 3],
      ['ac', 1],
      ['abc', 1],
    ])
  })

  it('are none if no two objects have the same', () => {
    expect(collected(objectWith('ab'), objectWith('ba'), objectWith('abc'))).toEqual([])
  })

  it('have no key twice', () => {
    const twice = objectWith('abca')
    expect(collected(twice, objectWith('xy'), twice, objectWith('xy'))).toEqual([['xy', 2]])
  })
})
