import fc from 'fast-check'
import { parseNumber } from '../../../../src/core/json/parse-number.ts'
import { ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { anyText } from '../../../support/any-text.ts'

/** Strings that mean something to the grammar of `tree@2`, at the ends and in the middle. */
const SIGNS = [
  ...',;:[]{}"|`.=*#-\\\'~ \t\n\r\u0000\u0085\u00a0\u2028\ufeff\ud800\udfff😀é',
  '- ',
  ', ',
  ': ',
  '```',
  '\n```',
  '````',
  '\r\n',
  '[2]:',
  '{2}:',
  '-,-',
  '[2-]:',
  '[2]: a b',
  'key=*',
  'a{b}',
  'a[b]',
  '(compact json)',
  'A(',
  'B(x)',
  'A{b}',
  ')',
  'null',
  'true',
  '1',
  '-0',
  '1e5',
  'NaN',
  '-Infinity',
  '[]',
  '{}',
  '__proto__',
]

const word = fc.constantFrom('Ann', 'Bo', 'x', 'key', 'open', 'closed', 'a b', '7', '')

const hostile = fc.oneof(
  fc.array(fc.oneof(fc.constantFrom(...SIGNS), word), { maxLength: 4 }).map(all => all.join('')),
  anyText({ maxLength: 8 }),
)

/** Strings of a column that begin or end alike. */
const affixed = fc
  .tuple(
    fc.constantFrom('', 'id-', '2025-', 'https://x.y/', '"', '* ', ' ', 'é', '😀', '[', 'null'),
    fc.constantFrom('', 'Z', '.com', ':ro', '"', '*', ' ', '😀', ']', ';'),
  )
  .map(([prefix, suffix]) =>
    fc.oneof(word, hostile).map((text): Value => `${prefix}${text}${suffix}`),
  )

const SPELLINGS = ['0', '-0', '1.0', '1e400', '1E5', '12345678901234567890', '3', '42', '0.5', '-7']

const scalar: fc.Arbitrary<Value> = fc.oneof(
  { weight: 3, arbitrary: word },
  { weight: 3, arbitrary: hostile },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...SPELLINGS).map(text => parseNumber(text, 0, text.length)!),
  },
  { weight: 2, arbitrary: fc.constantFrom<Value>(null, true, false) },
)

const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('id', 'name', 'key', 'a', 'b', 'c', 'a b') },
  { weight: 1, arbitrary: hostile },
)

function objectOf(member: fc.Arbitrary<Value>, most: number): fc.Arbitrary<ObjectValue> {
  return fc.array(fc.tuple(name, member), { maxLength: most }).map(
    members =>
      new ObjectValue(
        members.map(m => m[0]),
        members.map(m => m[1]),
      ),
  )
}

/**
 * Values of one column: of one kind mostly, so that it becomes a constant, a pattern, a group or
 * rows.
 */
function columnOf(depth: number): fc.Arbitrary<fc.Arbitrary<Value>> {
  const flat = fc.oneof(
    fc.constant(scalar),
    scalar.map(value => fc.constant(value)),
    affixed,
    fc.constant(fc.array(scalar, { maxLength: 3 })),
  )
  if (depth === 0) return flat
  return fc.oneof(
    { weight: 3, arbitrary: flat },
    { weight: 2, arbitrary: rowOf(depth - 1) },
    { weight: 2, arbitrary: rowOf(depth - 1).map(row => fc.array(row, { maxLength: 3 })) },
    { weight: 1, arbitrary: fc.constant(anything(1)) },
  )
}

/** Rows of one table: a column is missing now and then, or something else stands in it. */
function rowOf(depth: number): fc.Arbitrary<fc.Arbitrary<Value>> {
  return fc
    .tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 4 }), fc.nat(9))
    .chain(([names, ragged]) =>
      fc
        .tuple(...names.map(() => columnOf(depth)))
        .map(columns =>
          fc
            .tuple(...columns.map(column => cellOf(column, ragged)))
            .map(cells => rowFrom(names, cells)),
        ),
    )
}

function cellOf(column: fc.Arbitrary<Value>, ragged: number): fc.Arbitrary<Value | undefined> {
  return fc.oneof(
    { weight: 20, arbitrary: column },
    { weight: ragged, arbitrary: fc.constantFrom<Value | undefined>(undefined, null) },
    { weight: ragged > 7 ? 1 : 0, arbitrary: anything(0) },
  )
}

function rowFrom(names: readonly string[], cells: readonly (Value | undefined)[]): ObjectValue {
  const keys: string[] = []
  const values: Value[] = []
  for (let i = 0; i < names.length; i++) {
    const value = cells[i]
    if (value === undefined) continue
    keys.push(names[i]!)
    values.push(value)
  }
  return new ObjectValue(keys, values)
}

function anything(depth: number): fc.Arbitrary<Value> {
  if (depth === 0) return fc.oneof(scalar, fc.constantFrom<Value>([], new ObjectValue([], [])))
  const inner = anything(depth - 1)
  return fc.oneof(scalar, fc.array(inner, { maxLength: 3 }), objectOf(inner, 3))
}

const table: fc.Arbitrary<Value> = rowOf(2).chain(row =>
  fc.array(row, { minLength: 1, maxLength: 8 }),
)

/** Among many rows of a table some that are like no other. */
const tableWithOthers: fc.Arbitrary<Value> = rowOf(1).chain(row =>
  fc
    .tuple(
      fc.array(row, { minLength: 6, maxLength: 12 }),
      objectOf(anything(1), 4),
      objectOf(anything(1), 2),
      fc.nat(5),
    )
    .map(([rows, one, other, at]) => [...rows.slice(0, at), one, ...rows.slice(at), other]),
)

/** Objects of a few shapes, here and there among others. */
const shaped: fc.Arbitrary<Value> = fc.tuple(rowOf(1), rowOf(1)).chain(([one, other]) => {
  const some = fc.oneof({ weight: 4, arbitrary: one }, { weight: 2, arbitrary: other }, scalar)
  const inner = fc.oneof(some, fc.array(some, { maxLength: 3 }), objectOf(some, 3))
  return objectOf(fc.oneof(some, inner, objectOf(inner, 2)), 9)
})

const keyedTable: fc.Arbitrary<Value> = rowOf(1).chain(row => objectOf(row, 6))

/** Neighbours whose strings begin alike, with others between them. */
const alike: fc.Arbitrary<Value> = affixedLong().chain(text =>
  objectOf(fc.oneof({ weight: 8, arbitrary: text }, { weight: 1, arbitrary: anything(1) }), 9),
)

function affixedLong(): fc.Arbitrary<fc.Arbitrary<Value>> {
  return fc
    .constantFrom(
      'https://a.example/b/',
      'https://a.example/cc*/',
      '"quoted" start of all ',
      ' space first, as in all ',
      'é'.repeat(18),
    )
    .map(prefix => fc.oneof(word, hostile).map((text): Value => prefix + text))
}

/** Strings that are the JSON text of something, well spaced or not. */
const jsonText: fc.Arbitrary<Value> = fc
  .tuple(fc.oneof(table, anything(2)), fc.constantFrom(undefined, 1, 2, '\t', '   ', '\n '))
  .map(([value, indent]) => {
    const json = writeJson(value)
    return indent === undefined ? json : JSON.stringify(JSON.parse(json), null, indent)
  })

/** Lists of strings that begin or end alike, or not at all. */
const words: fc.Arbitrary<Value> = affixed.chain(text =>
  fc.array(fc.oneof({ weight: 20, arbitrary: text }, { weight: 1, arbitrary: scalar }), {
    minLength: 3,
    maxLength: 8,
  }),
)

/**
 * Documents that use every device of `tree@2`: tables in objects, keyed tables, lists, paths,
 * fences, runs.
 */
export const arbitraryTree: fc.Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: fc.oneof({ weight: 3, arbitrary: table }, tableWithOthers) },
  { weight: 2, arbitrary: keyedTable },
  { weight: 4, arbitrary: shaped },
  {
    weight: 3,
    arbitrary: objectOf(
      fc.oneof(scalar, table, keyedTable, words, alike, jsonText, anything(2)),
      4,
    ),
  },
  { weight: 1, arbitrary: fc.oneof(alike, fc.array(alike, { maxLength: 3 })) },
  { weight: 1, arbitrary: fc.array(fc.oneof(table, words, anything(2)), { maxLength: 3 }) },
  { weight: 1, arbitrary: words },
  { weight: 1, arbitrary: fc.oneof(objectOf(objectOf(table, 1), 1), anything(3)) },
)

/** Cuts a text and puts a sign, or nothing, in the place of a few characters. */
export const arbitraryCut = fc
  .tuple(fc.nat(), fc.nat(3), fc.constantFrom('', ...SIGNS))
  .map(([position, removed, sign]) => (text: string): string => {
    const at = position % (text.length + 1)
    return text.slice(0, at) + sign + text.slice(at + removed)
  })
