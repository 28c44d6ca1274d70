import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findShapes, freeNames } from '../../../../src/core/formats/json/tree/encode-document.ts'
import {
  encodeKeyedTable,
  encodeTable,
} from '../../../../src/core/formats/json/tree/encode-table.ts'
import { collectKeyLists } from '../../../../src/core/formats/json/tree/key-lists.ts'
import { KnownTables } from '../../../../src/core/formats/json/tree/known-tables.ts'
import { createPricer } from '../../../../src/core/formats/json/tree/pricer.ts'
import type { Table } from '../../../../src/core/formats/json/tree/table.ts'
import { ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { leastHits, runs } from '../../../support/runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { arbitraryTree } from './tree-values.ts'

const plain = createPricer(counters.get('o200k_base'))

/** The lists and objects of a value. */
function containersOf(value: Value): (ObjectValue | readonly Value[])[] {
  if (typeof value !== 'object' || value === null) return []
  const isObject = value instanceof ObjectValue
  if (!isObject && !Array.isArray(value)) return []
  const members: readonly Value[] = isObject ? value.values : value
  return [value as ObjectValue, ...members.flatMap(containersOf)]
}

/** Rows with objects of one list of keys, in cells and in groups, so that shapes reach some. */
function inRows(part: Value, other: Value): Value {
  const alike = (inner: Value) => new ObjectValue(['identifier', 'details'], [inner, 'some text'])
  const row = (inner: Value) => new ObjectValue(['name', 'value'], ['a name', inner])
  return [
    [row(alike(part)), row(alike(other)), row(alike(1))],
    [row(part), row([alike(2), 3]), row(other)],
    [row('x'), row('y'), row('z')],
    // In quotes, these signs look like gaps.
    [row('a,,,b|||c   d\t\t\te'), row('y'), row('z')],
    new ObjectValue(['first', 'second'], [row(alike(4)), row(alike(part))]),
  ]
}

it('a table that is taken from the text without shapes is the one with shapes', () => {
  let taken = 0
  let written = 0
  fc.assert(
    fc.property(arbitraryTree, arbitraryTree, (part, other) => {
      const value = inRows(part, other)
      const shapes = findShapes(collectKeyLists(value), freeNames(value), plain)
      shapes.survey(value)
      const tables = new KnownTables()
      const write = (
        each: ObjectValue | readonly Value[],
        pricer: Parameters<typeof encodeTable>[1],
      ) =>
        each instanceof ObjectValue ? encodeKeyedTable(each, pricer) : encodeTable(each, pricer)
      const all = containersOf(value)
      for (const each of all) write(each, { ...plain, tables })
      for (const each of all) {
        const found: Table | null | undefined = tables.find(each, shapes)
        if (found === undefined) {
          written++
          continue
        }
        taken++
        expect(found).toEqual(write(each, { ...plain, shapes, tables: undefined }))
      }
    }),
    { numRuns: runs(400) },
  )
  // In 40 runs it is 279 to 567, in 400 some 5,000.
  expect(taken).toBeGreaterThan(leastHits(200))
  expect(written).toBeGreaterThan(leastHits(400))
})
