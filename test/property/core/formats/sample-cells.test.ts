import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  createGaps,
  type Gap,
  leavesOf,
  NO_GAPS,
} from '../../../../src/core/formats/json/tree/cell-gaps.ts'
import type { Column, Leaf } from '../../../../src/core/formats/json/tree/column.ts'
import { planColumns } from '../../../../src/core/formats/json/tree/plan-columns.ts'
import { createPricer, type ShapeWriter } from '../../../../src/core/formats/json/tree/pricer.ts'
import { sampleCells } from '../../../../src/core/formats/json/tree/sample-cells.ts'
import type { Separator } from '../../../../src/core/formats/json/tree/syntax.ts'
import {
  createLayout,
  type Layout,
  RowWriter,
} from '../../../../src/core/formats/json/tree/write-table.ts'
import { ObjectValue } from '../../../../src/core/json/value.ts'
import { runs } from '../../../support/runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { arbitraryTree } from './tree-values.ts'

const GAPS: readonly Gap[] = [' ', ',', ', ']
const SEPARATORS: readonly Separator[] = [',', '\t', '|', ' ']

const arbitraryRows = fc
  .array(arbitraryTree, { minLength: 1, maxLength: 6 })
  .map(values => values.flatMap(value => (Array.isArray(value) ? value : [value])))
  .map(values => values.filter(value => value instanceof ObjectValue))

/** Writes objects with an even number of members as a shape would, commas and spaces included. */
const shapes: ShapeWriter = {
  reaches: () => true,
  write: ({ keys }) => (keys.length % 2 === 0 ? `A(${keys.join(', ')}|,\t, )` : null),
  piece: () => null,
}

/** How many cells with rows may be around a cell. */
function rowsDepth(columns: readonly Column[]): number {
  const depths = columns.map(column => {
    if (column.kind === 'rows') return 1 + rowsDepth(column.columns)
    return column.kind === 'group' ? rowsDepth(column.columns) : 0
  })
  return Math.max(0, ...depths)
}

it.each([
  ['', {}],
  [' and shapes in them', { shapes }],
])('the cells of a sample are what a table with that separator has%s', (_, shaped) => {
  const found = {
    'rows in cells': 0,
    'rows in their cells': 0,
    'a row as itself': 0,
    'gaps of several cells': 0,
  }
  const booleans = fc.infiniteStream(fc.boolean())
  const places = fc.infiniteStream(fc.nat(GAPS.length - 1))
  fc.assert(
    fc.property(arbitraryRows, booleans, places, (rows, whims, pick) => {
      const columns = planColumns(rows, createPricer(undefined))
      if (columns === null) return
      const cells = sampleCells(rows, columns, shaped)
      const depth = rowsDepth(columns)
      if (depth > 0) found['rows in cells']++
      if (depth > 1) found['rows in their cells']++
      const write = (layout: Layout): RowWriter => {
        const writer = new RowWriter(layout)
        for (const row of rows) {
          writer.out += '\n'
          if (!writer.row(columns, row)) found['a row as itself']++
        }
        return writer
      }
      const gapsOf = (leaf: Leaf) => [leaf, GAPS[pick.next().value]!] as const
      const picked = leavesOf(columns).map(gapsOf)
      const mixed = createGaps(columns, new Map(picked.filter(([, gap]) => gap !== ' ')))
      const between = write(createLayout(' ', { gaps: mixed, ...shaped }))
      expect(cells.mixed(mixed)).toBe(between.out)
      if (/,,|, ,/.test(between.out)) found['gaps of several cells']++
      for (const separator of SEPARATORS) {
        const { texts, counted, rows: whole } = cells.between(separator)
        const leaves = separator === ' ' ? [] : [...texts.keys()]
        const spaced = new Set(leaves.filter(() => whims.next().value))
        const gaps = separator === ' ' ? createGaps(columns, NO_GAPS) : undefined
        const writer = write(createLayout(separator, { spaced, gaps, ...shaped }))
        expect(counted(spaced)).toBe(writer.out)
        expect(whole(spaced) ?? writer.out).toBe(writer.out)
        expect(cells.hasGaps ?? writer.hasGaps).toBe(writer.hasGaps)
      }
    }),
    { numRuns: runs(3000) },
  )
  for (const times of Object.values(found)) expect(times).toBeGreaterThan(0)
})

it('a space before a number never makes a text cheaper', () => {
  const number = fc.stringMatching(/^\d[^\n]{0,6}$/)
  fc.assert(
    fc.property(
      fc.array(number, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...SEPARATORS),
      fc.constantFrom('o200k_base', 'cl100k_base'),
      (cells, separator, id) => {
        const { count } = counters.get(id)
        const written = (before: string) => `${before}${cells.join(`\n${before}`)}\n`
        expect(count(written(`${separator} `))).toBeGreaterThanOrEqual(count(written(separator)))
      },
    ),
    { numRuns: runs(3000) },
  )
})
