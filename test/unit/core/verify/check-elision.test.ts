import { describe, expect, it } from 'vitest'
import { elided, hintFaults } from './hand-written.ts'

const OTHER_LINES = 'other lines are missing than it says'
const NO_PART = 'what is left is no part of the original'

describe('a marker of missing lines', () => {
  const POEM = ['one', 'two', 'three', 'four is longer', 'five is longer', 'six'].join('\n')
  const FIRST_TWO = '[… lines 1-2]\nthree\nfour is longer\nfive is longer\nsix'
  const LINE_TWO = 'one\n[… line 2]\nthree\nfour is longer\nfive is longer\nsix'
  const TWO_AND_FOUR = 'one\n[… line 2]\nthree\n[… line 4]\nfive is longer\nsix'
  const CUT_FOUR = 'one\ntwo\nthree\nfour …[+9 chars]\nfive is longer\nsix'
  const CUT_TWICE = 'one\ntwo\nthree\nfour …[+9 chars]\nfive …[+9 chars]\nsix'

  it.each([
    ['of a run', FIRST_TWO, 'lines 1-2 of 6'],
    ['of a run without its total', FIRST_TWO, 'lines 1-2'],
    ['of a number without a place', FIRST_TWO, '2 lines'],
    ['of a single line', LINE_TWO, 'lines 2-2 of 6'],
    ['of all lines', '[… lines 1-6]', 'lines 1-6 of 6'],
    ['of the last line', POEM.replace('six', '[… line 6]'), 'lines 6-6 of 6'],
    ['of two runs', TWO_AND_FOUR, 'lines 2-2 of 6, lines 4-4 of 6'],
    ['of the end of a line', CUT_FOUR, '1 texts at lines 4-4'],
    ['of the end of a line without its place', CUT_FOUR, '1 texts'],
    ['of two ends of lines', CUT_TWICE, '1 texts at lines 4-4, 1 texts at lines 5-5'],
    ['of a run and an end', CUT_FOUR.replace('one', '[… line 1]'), 'lines 1-1, 1 texts'],
  ])('is true: %s', (_, left, claims) => {
    expect(hintFaults(elided(POEM, left, claims))).toEqual([])
  })

  it.each([
    ['a run that starts a line late', FIRST_TWO, 'lines 2-2 of 6', OTHER_LINES],
    ['a run that ends a line late', FIRST_TWO, 'lines 1-3 of 6', OTHER_LINES],
    ['a run that is moved by a line', FIRST_TWO, 'lines 2-3 of 6', OTHER_LINES],
    ['a line more', FIRST_TWO, '3 lines', OTHER_LINES],
    ['a line fewer', FIRST_TWO, '1 lines', OTHER_LINES],
    ['another number at a true place', FIRST_TWO, '1 lines at lines 1-2, 1 lines', OTHER_LINES],
    ['the line after a single one', LINE_TWO, 'lines 3-3 of 6', OTHER_LINES],
    ['one of two runs', TWO_AND_FOUR, 'lines 2-2 of 6', OTHER_LINES],
    ['one of two runs twice', TWO_AND_FOUR, 'lines 2-2, lines 2-2', OTHER_LINES],
    ['one of two ends twice', CUT_TWICE, '1 texts at lines 4-4, 1 texts at lines 4-4', OTHER_LINES],
    ['a run that covers what stayed', TWO_AND_FOUR, 'lines 2-4 of 6', OTHER_LINES],
    ['a total of a line more', FIRST_TWO, 'lines 1-2 of 7', OTHER_LINES],
    ['a total of a line fewer', FIRST_TWO, 'lines 1-2 of 5', OTHER_LINES],
    ['the end of another line', CUT_FOUR, '1 texts at lines 5-5', OTHER_LINES],
    ['two ends in one line', CUT_TWICE, '2 texts at lines 4-4', OTHER_LINES],
    ['an end that is whole', LINE_TWO, 'lines 2-2, 1 texts', OTHER_LINES],
    ['ends that it does not count', CUT_FOUR.replace('one', '[… line 1]'), '1 lines', OTHER_LINES],
    ['items of a text', FIRST_TWO, 'lines 1-2, 1 items', OTHER_LINES],
    ['a mark of a line too few', FIRST_TWO.replace('1-2', '1-1'), 'lines 1-1 of 6', NO_PART],
    ['a mark beyond the end', POEM.replace('six', '[… lines 6-7]'), 'lines 6-7', NO_PART],
    ['a mark that counts down', FIRST_TWO.replace('1-2', '2-1'), '1 lines', NO_PART],
    ['a mark of no line', `[… line 0]\n${POEM}`, '1 lines', NO_PART],
    ['a cut of a character more', CUT_FOUR.replace('9', '10'), '1 texts', NO_PART],
    ['a cut of a character fewer', CUT_FOUR.replace('9', '8'), '1 texts', NO_PART],
    ['an end without a mark', POEM.replace('\nsix', ''), '1 lines', NO_PART],
  ])('is a lie: %s', (_, left, claims, reason) => {
    expect(hintFaults(elided(POEM, left, claims))).toEqual([reason])
  })
})

describe('a marker of missing values', () => {
  const LIST = JSON.stringify({
    list: [1, 2, 3, 4, 5],
    note: 'a long text',
    other: 'many words',
    more: { a: 1, b: 2 },
  })
  const left = (fields: object) =>
    JSON.stringify({
      list: [1, 2, 3, 4, 5],
      note: 'a long text',
      other: 'many words',
      more: { a: 1, b: 2 },
      ...fields,
    })
  const ENDS = left({ list: [1, 4, 5] })
  const CUT = left({ note: 'a …[+9 chars]' })

  it.each([
    ['a run', ENDS, '2 of 5 items at $.list[1:3]'],
    ['items of a list', ENDS, '2 of 5 items at $.list'],
    ['items anywhere', ENDS, '2 items'],
    ['the last item', left({ list: [1, 2, 3, 4] }), '1 of 5 items at $.list[4:5]'],
    ['a field', left({ more: { b: 2 } }), '1 of 2 fields at $.more'],
    ['the end of a text', CUT, '1 texts at $.note'],
    ['several kinds', left({ list: [], more: {} }), '5 items at $.list, 2 fields at $.more'],
  ])('is true: %s', (_, rest, claims) => {
    expect(hintFaults(elided(LIST, rest, claims))).toEqual([])
  })

  const NOT_AT = (unit: string, at: string) => `not so many ${unit} are missing at ${at}`

  it.each([
    ['an item more', ENDS, '3 items', 'not 3 items are missing'],
    ['an item fewer', ENDS, '1 items', 'not 1 items are missing'],
    ['a run that is an item late', ENDS, '2 items at $.list[2:4]', NOT_AT('items', '$.list[2:4]')],
    ['a run that is an item early', ENDS, '2 items at $.list[0:2]', NOT_AT('items', '$.list[0:2]')],
    ['a run beyond the end', ENDS, '2 items at $.list[4:6]', NOT_AT('items', '$.list[4:6]')],
    ['a list of an item more', ENDS, '2 of 6 items at $.list', NOT_AT('items', '$.list')],
    ['a list of an item fewer', ENDS, '2 of 4 items at $.list', NOT_AT('items', '$.list')],
    ['items of another list', ENDS, '2 items at $.more', NOT_AT('items', '$.more')],
    ['items of a name that begins alike', ENDS, '2 items at $.lis', NOT_AT('items', '$.lis')],
    [
      'the end of one of two texts twice',
      left({ note: 'a …[+9 chars]', other: 'm…[+9 chars]' }),
      '1 texts at $.note, 1 texts at $.note',
      NOT_AT('texts', '$.note'),
    ],
    ['items that are there', CUT, '1 texts, 1 items', 'not 1 items are missing'],
    ['fields that it does not count', left({ more: {} }), '1 texts', 'not 1 texts are missing'],
    [
      'an object of a field more',
      left({ more: {} }),
      '2 of 3 fields at $.more',
      NOT_AT('fields', '$.more'),
    ],
    ['a unit of its own', ENDS, '2 items, 1 pages', 'not 1 pages are missing'],
    ['a text at another place', CUT, '1 texts at $.more', NOT_AT('texts', '$.more')],
    ['a cut of a character more', CUT.replace('9', '10'), '1 texts', NO_PART],
    ['a cut of nothing', left({ note: 'a long text…[+0 chars]' }), '1 texts', NO_PART],
    ['an item in another place', left({ list: [1, 5, 4] }), '2 items', NO_PART],
    ['an item that it has twice', left({ list: [1, 1, 2, 3, 4, 5] }), '2 items', NO_PART],
    ['a field of another value', left({ more: { a: 2 } }), '1 fields', NO_PART],
    ['text in place of JSON', 'list: 1', '4 items', 'what is left is no JSON'],
  ])('is a lie: %s', (_, rest, claims, reason) => {
    expect(hintFaults(elided(LIST, rest, claims))).toEqual([reason])
  })
})
