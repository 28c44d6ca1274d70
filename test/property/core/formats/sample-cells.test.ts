import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createGaps, NO_GAPS } from '../../../../src/core/formats/json/tree/cell-gaps.ts'
import { planColumns } from '../../../../src/core/formats/json/tree/plan-columns.ts'
import { createPricer, type ShapeWriter } from '../../../../src/core/formats/json/tree/pricer.ts'
import { sampleCells } from '../../../../src/core/formats/json/tree/sample-cells.ts'
import type { Separator } from '../../../../src/core/formats/json/tree/syntax.ts'
import { createLayout, RowWriter } from '../../../../src/core/formats/json/tree/write-table.ts'
import { ObjectValue } from '../../../../src/core/json/value.ts'
import { runs } from '../../../support/runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { arbitraryTree } from './tree-values.ts'

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

it.each([
  ['', {}],
  [' and shapes in them', { shapes }],
])('the cells of a sample are what a table with that separator has%s', (_, shaped) => {
  let tables = 0
  let inRows = 0
  fc.assert(
    fc.property(arbitraryRows, fc.infiniteStream(fc.boolean()), (rows, whims) => {
      const columns = planColumns(rows, createPricer(undefined))
      if (columns === null) return
      tables++
      const cells = sampleCells(rows, columns, shaped)
      if (columns.some(({ kind }) => kind === 'rows')) inRows++
      for (const separator of SEPARATORS) {
        const { texts, counted, rows: whole } = cells.between(separator)
        const leaves = separator === ' ' ? [] : [...texts.keys()]
        const spaced = new Set(leaves.filter(() => whims.next().value))
        const gaps = separator === ' ' ? createGaps(columns, NO_GAPS) : undefined
        const writer = new RowWriter(createLayout(separator, { spaced, gaps, ...shaped }))
        for (const row of rows) {
          writer.out += '\n'
          writer.row(columns, row)
        }
        expect(counted(spaced)).toBe(writer.out)
        expect(whole(spaced) ?? writer.out).toBe(writer.out)
        expect(cells.hasGaps ?? writer.hasGaps).toBe(writer.hasGaps)
      }
    }),
    { numRuns: runs(3000) },
  )
  expect(tables).toBeGreaterThan(0)
  expect(inRows).toBeGreaterThan(0)
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
