import { expect, it } from 'vitest'
import {
  linesNotShown,
  markedTexts,
  nameOfMarked,
} from '../../../../../src/core/conversation/retrieve/not-shown.ts'

const HASH = '9f2c41aa07d3b85e16f04c2a'
const OTHER = 'e4c2f49ad8b8f9425e693ee7'
const elided = (...lines: readonly string[]) => ({ hash: HASH, text: lines.join('\n') })

it('reads the lines that marks name', () => {
  const marker = `> [3 lines kept, 87 not shown | hash=${HASH}]`
  const marks = ['[… lines 2-8]', '[… line 12]', '[… lines 20-98, 68 like "posting rejected"]']
  expect(linesNotShown(elided('a', ...marks, 'b', marker))).toEqual([
    { first: 2, last: 8 },
    { first: 12, last: 12 },
    { first: 20, last: 98 },
  ])
})

it.each([
  ['a stub', elided(`> [412 lines not shown | "Read a.ts" | hash=${HASH}]`)],
  ['escaped marks', elided('\\[… lines 2-8]', `> [1 lines kept, 7 not shown | hash=${HASH}]`)],
  [
    'a view of a diff',
    elided('[… lines 1-9 with context 1]', `> [3 lines kept, 6 not shown | hash=${HASH}]`),
  ],
  ['parts of lines', elided('[… lines 2-8]', `> [7 lines, 1 texts not shown | hash=${HASH}]`)],
  [
    'marks that go back',
    elided('[… lines 5-8]', '[… lines 2-3]', `> [1 lines kept, 6 not shown | hash=${HASH}]`),
  ],
  ['no marker', elided('[… lines 2-8]', 'b')],
])('reads none of %s', (_, text) => {
  expect(linesNotShown(text)).toBeNull()
})

it('finds strings that end with a marker, the newest first, each original once', () => {
  const first = `say "hi"\\\n> [1 lines kept, 2 not shown | hash=${HASH}]`
  const stub = `> [20 lines not shown | "Read /a.ts" | hash=${OTHER}]`
  const body = JSON.stringify({ messages: [{ content: first }, { content: stub }, stub, 'x'] })
  const found = [...markedTexts(Buffer.from(body))]
  expect(found).toEqual([
    { hash: OTHER, text: stub },
    { hash: HASH, text: first },
  ])
  expect(found.map(nameOfMarked)).toEqual([`Read /a.ts (hash ${OTHER})`, HASH])
  expect([...markedTexts(Buffer.from(`hash=${HASH}]"`))]).toEqual([])
})
