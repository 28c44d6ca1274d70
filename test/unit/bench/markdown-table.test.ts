import { expect, it } from 'vitest'
import { markdownTable, tableOf } from '../../../bench/support/markdown-table.ts'

it('sets columns of numbers right', () => {
  const rows = [
    ['a', 1, '10.5 %', '≤ 3'],
    ['b', 2, '–', '4'],
  ]
  expect(markdownTable(['what', 'N', 'share', 'target'], rows)).toBe(
    '| what | N | share | target |\n|---|---:|---:|---|\n| a | 1 | 10.5 % | ≤ 3 |\n| b | 2 | – | 4 |',
  )
})

it('writes three significant digits, and all of those before the point', () => {
  const numbers = [0, 7, 0.012345, 1.2345, 12.345, 123.45, 1_234_567.8]
  const cells = markdownTable(
    ['x'],
    numbers.map(each => [each]),
  )
    .split('\n')
    .slice(2)
  expect(cells.map(cell => cell.slice(2, -2))).toEqual([
    '0',
    '7',
    '0.0123',
    '1.23',
    '12.3',
    '123',
    '1,234,568',
  ])
})

it('makes a table of objects', () => {
  expect(tableOf([{ kind: 'a', proven: true }])).toBe('| kind | proven |\n|---|---|\n| a | true |')
})
