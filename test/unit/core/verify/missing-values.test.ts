import { describe, expect, it } from 'vitest'
import type { Value } from '../../../../src/core/json/value.ts'
import {
  type MissingUnit,
  missingIn,
  type Question,
} from '../../../../src/core/verify/missing-values.ts'
import { jsonValue } from '../../../../src/core/verify/same-meaning.ts'

const read = (json: string): Value => jsonValue(json)!
const only = (unit: MissingUnit): Question => ({ counts: each => each === unit })
const exactly = (count: number) => ({ least: count, most: count })

describe('what is missing in a value', () => {
  it.each<readonly [MissingUnit, whole: string, left: string, least: number, most: number]>([
    ['items', '[1,2,3]', '[1,3]', 1, 1],
    ['items', '[[1,2],[3]]', '[[],[3]]', 2, 2],
    ['items', '[[1,2],[3]]', '[[3]]', 1, 1],
    // The first list is gone, or the second and an item of the first.
    ['items', '[[1,2],[1]]', '[[1]]', 1, 2],
    ['fields', '{"a":1,"b":2}', '{"b":2}', 1, 1],
    ['fields', '{"a":{"b":1},"c":{}}', '{"a":{},"c":{}}', 1, 1],
    ['fields', '[{"a":1},{"a":1,"b":2}]', '[{"a":1}]', 0, 1],
    ['texts', '["abc","b"]', '["a…[+2 chars]","b"]', 1, 1],
    ['texts', '{"a":"abc","b":"abc"}', '{"a":"…[+3 chars]","b":"ab…[+1 chars]"}', 2, 2],
    ['texts', '["…[+1 chars]"]', '["…[+1 chars]"]', 0, 0],
    ['texts', '["a…[+1 chars]b"]', '["a…[+1 chars]…[+1 chars]"]', 1, 1],
  ])('%s of %s in %s are %i to %i', (unit, whole, left, least, most) => {
    expect(missingIn(read(whole), read(left), only(unit))).toEqual({ least, most })
  })

  it.each([
    ['an item in another order', '[1,2]', '[2,1]'],
    ['a field in another order', '{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['a field of another name', '{"a":1}', '{"b":1}'],
    ['a list in place of an object', '{}', '[]'],
    ['an object in place of a list', '[]', '{}'],
    ['another number', '1', '2'],
    ['a text in place of a number', '1', '"1"'],
    ['a text that is cut without a mark', '"abc"', '"ab"'],
    ['a mark of a character more', '"abc"', '"a…[+3 chars]"'],
    ['a mark of a character fewer', '"abc"', '"a…[+1 chars]"'],
    ['a mark of nothing', '"abc"', '"abc…[+0 chars]"'],
    ['a mark within the text of too many', '"abc"', '"a…[+2 chars]c"'],
    ['a mark of another line', '"a\\nb\\nc"', '"a\\n[… line 3]\\nc"'],
    ['an item that inner JSON did not have', '"[1,2]"', '"[1,3]"'],
    ['a mark behind another beginning', '"abc"', '"b…[+2 chars]"'],
  ])('is not known with %s', (_, whole, left) => {
    expect(missingIn(read(whole), read(left), only('items'))).toBeNull()
  })

  it('is counted by its place', () => {
    const places = new Set<string>()
    const counts = (unit: MissingUnit, at: string) => {
      places.add(`${unit} ${at}`)
      return true
    }
    const whole = read('{"a":["abc",1],"b c":{"d":{"e":1}},"1":2}')
    const left = read('{"a":["a…[+2 chars]"],"b c":{"d":{}},"1":2}')
    missingIn(whole, left, { counts })
    const found = ['texts $.a[:]', 'items $.a', 'fields $["b c"].d.e', 'fields $["1"]']
    expect([...places]).toEqual(expect.arrayContaining(found))
  })
})

describe('a known run of missing items', () => {
  const run = (start: number, end: number, of?: number): Question => ({
    ...only('items'),
    container: { at: '$', run: { start, end }, ...(of === undefined ? {} : { of }) },
  })

  it.each<readonly [Question, whole: string, left: string, count: number]>([
    [run(0, 1), '[1,2,3]', '[2,3]', 1],
    [run(1, 3), '[1,2,3]', '[1]', 2],
    [run(0, 3, 3), '[1,2,3]', '[]', 3],
    [run(0, 1), '[1,[2,3]]', '[[3]]', 2],
    [run(0, 1), '[1,2,3]', '[3]', 2],
  ])('is %j: %s in %s', (question, whole, left, count) => {
    expect(missingIn(read(whole), read(left), question)).toEqual(exactly(count))
  })

  it.each<readonly [Question, whole: string, left: string]>([
    [run(0, 1), '[1,2,3]', '[1,3]'],
    [run(1, 2), '[1,2,3]', '[2,3]'],
    [run(2, 4), '[1,2,3]', '[2,3]'],
    [run(1, 3), '[1,2,3]', '[1,2]'],
    [run(0, 1, 4), '[1,2,3]', '[2,3]'],
    [run(0, 1, 2), '[1,2,3]', '[2,3]'],
  ])('is not %j: %s in %s', (question, whole, left) => {
    expect(missingIn(read(whole), read(left), question)).toBeNull()
  })

  it('is counted exactly in a list of more than a million', () => {
    const list = new Array<Value>(1_000_002).fill(null)
    expect(missingIn(list, list.slice(1), run(0, 1))).toEqual(exactly(1))
  })
})
