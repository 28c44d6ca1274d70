import { expect, it } from 'vitest'
import { chooseLayout } from '../../../../../../src/core/formats/json/tree/choose-layout.ts'
import type { CellColumn } from '../../../../../../src/core/formats/json/tree/column.ts'
import { createPricer } from '../../../../../../src/core/formats/json/tree/pricer.ts'
import { RowWriter } from '../../../../../../src/core/formats/json/tree/write-table.ts'
import { ObjectValue } from '../../../../../../src/core/json/value.ts'

const columns = ['name', 'detail'].map((name): CellColumn => ({ kind: 'cell', name }))
const point = new ObjectValue(['x'], ['1'])

it.each([
  ['in cells', new ObjectValue(['name', 'detail'], ['c', 'd'])],
  // Its only cell is an object, which would be taken for the row.
  ['as itself', new ObjectValue(['detail'], [point])],
])('prices the rows as they would be written, if one of them is written %s', (_, second) => {
  const first = new ObjectValue(['name', 'detail'], ['a', 'b'])
  const rows = [first, second, first]
  const priced: string[] = []
  const { layout } = chooseLayout(rows, columns, {
    ...createPricer(undefined),
    tokens(text) {
      priced.push(text)
      // Spaces are cheap, and a comma is the cheapest separator.
      return 1_000 - (text.match(/, /g) ?? []).length
    },
  })
  const writer = new RowWriter(layout)
  for (const row of rows) {
    writer.out += '\n'
    writer.row(columns, row)
  }
  expect(layout).toMatchObject({ separator: ',', spaced: new Set(columns) })
  expect(writer.out).toMatch(/\na, b\n/)
  expect(priced).toContain(writer.out)
})
