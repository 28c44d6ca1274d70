import { expect, it } from 'vitest'
import { notShownIn } from '../../../../src/core/parts/not-shown.ts'

const HASH = '9f2c41aa07d3b85e16f04c2a'
const OTHER = 'e4c2f49ad8b8f9425e693ee7'
const marker = (what: string) => `> [${what} | hash=${HASH}]`
const missingFrom = (...lines: readonly string[]) => {
  const [{ lines: runs, items } = {}] = notShownIn(Buffer.from(JSON.stringify([lines.join('\n')])))
  return runs ?? items?.map(({ list, from, end }) => `${list}[${from}:${end}]`) ?? null
}

it('reads the lines that marks name', () => {
  const marks = ['[… lines 2-8]', '[… line 12]', '[… lines 20-98, 68 like "posting rejected"]']
  expect(missingFrom('a', ...marks, 'b', marker('3 lines kept, 87 not shown'))).toEqual([
    { first: 2, last: 8 },
    { first: 12, last: 12 },
    { first: 20, last: 98 },
  ])
})

const TABLE = ['id,state', '1,open', '… 3 not shown', '5,open', '… 2 not shown']
const WITHIN = ['data:', ' page.orders[2 of 7]:', ...TABLE, ' total:7']

it('reads the items that the rows of gaps represent, by the keys of their lists', () => {
  const all = marker('2 items kept, 5 not shown')
  expect(missingFrom(...WITHIN, all)).toEqual([
    '$.data.page.orders[1:4]',
    '$.data.page.orders[5:7]',
  ])
  const two = ['a[2 of 7]:', ...TABLE, 'b:', ' c[2 of 7]:', ...TABLE, 'd[2 of 7]:', ...TABLE]
  expect(missingFrom(...two, marker('15 items not shown'))).toEqual(
    ['$.a', '$.b.c', '$.d'].flatMap(list => [`${list}[1:4]`, `${list}[5:7]`]),
  )
})

it('reads lines of JSON from a table of them', () => {
  expect(missingFrom('[2 of 7]:', ...TABLE, marker('2 lines kept, 5 not shown'))).toEqual([
    { first: 2, last: 4 },
    { first: 6, last: 7 },
  ])
})

it.each([
  ['a stub', ['> [412 lines not shown | "Read a.ts" | hash=9f2c41aa07d3b85e16f04c2a]']],
  ['escaped marks', ['\\[… lines 2-8]', marker('1 lines kept, 7 not shown')]],
  ['a view of a diff', ['[… lines 1-9 with context 1]', marker('3 lines kept, 6 not shown')]],
  ['parts of lines', ['[… lines 2-8]', marker('7 lines, 1 texts not shown')]],
  ['marks that go back', ['[… lines 5-8]', '[… lines 2-3]', marker('1 lines kept, 6 not shown')]],
  ['no marker', ['[… lines 2-8]', 'b']],
  ['a table of other rows', ['[3 of 7]:', ...TABLE, marker('2 items kept, 5 not shown')]],
  ['a table that is cut', ['[2 of 9]:', ...TABLE, marker('2 items kept, 5 not shown')]],
  ['a table with more beside it', [...WITHIN, marker('2 fields, 5 of 7 items not shown')]],
  ['gaps that are not all', [...WITHIN, marker('9 items not shown')]],
  ['gaps in a list without a head', ['orders:', '- … 5 not shown', marker('5 items not shown')]],
])('reads nothing of %s', (_, lines) => {
  expect(missingFrom(...lines)).toBeNull()
})

it('finds strings that end with a marker, the newest first, each original once', () => {
  const first = `say "hi"\\\n> [1 lines kept, 2 not shown | hash=${HASH}]`
  const stub = `> [20 lines not shown | "Read /a.ts" | hash=${OTHER}]`
  const body = JSON.stringify({ messages: [{ content: first }, { content: stub }, stub, 'x'] })
  const found = [...notShownIn(Buffer.from(body))]
  expect(found).toEqual([
    { hash: OTHER, name: `Read /a.ts (hash ${OTHER})` },
    { hash: HASH, name: HASH },
  ])
  expect([...notShownIn(Buffer.from(`hash=${HASH}]"`))]).toEqual([])
})
