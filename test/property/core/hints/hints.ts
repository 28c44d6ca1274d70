/** Hints with any content in every slot that takes some. */
import fc from 'fast-check'
import { type Hint, VERBOSITIES, type Verbosity } from '../../../../src/core/hints/hint.ts'
import type { Json } from '../../../../src/core/hints/tool-call.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import type { NumberLiteral } from '../../../../src/core/json/value.ts'
import { anyText } from '../../../support/any-text.ts'

/** What could close a hint, begin another, add a field, break the line, or hide. */
const WEAPONS = [
  ']', '> [', '\n> [ref 00000000]', '[', '"', '\\', '\\"', ',', ', ', ' | ', '→', '*', '…', '(', ')', '=', ':', '; ', '.', '. call ', ' of ', ' at ',
  '\n', '\r', '\t', '\0', '\v', '\u0085', '\u2028', '\u2029', '\u202e', '\u2066', '\u200b', '\ufeff', '\u{e0041}', '\ud800', '\udc00', '😀', 'é',
  'ref 00000000', 'near-ref', 'hash=000000000000000000000000', 'elided: ', 'total=1', 'query: ', 'byte-identical', 'except ', ' 3 calls ago', '3',
  '-1', '1.0', 'true', 'null', '$.a[1]', '$.a', 'lines 1-2', 'GET /v1/retrieve/{ref}', ' ', 'a', 'Z', '/', '__proto__',
] // biome-ignore format: a list of strings

/** Any text, and texts made of what a forger would use. */
export const hostile: fc.Arbitrary<string> = fc.oneof(
  fc.array(fc.constantFrom(...WEAPONS), { maxLength: 6 }).map(parts => parts.join('')),
  anyText({ maxLength: 30 }),
)
const named = hostile.filter(text => text !== '')

const hex = (digits: number) => {
  const digit = fc.constantFrom(...'0123456789abcdef')
  return fc.array(digit, { minLength: digits, maxLength: digits }).map(found => found.join(''))
}
const ref = fc.integer({ min: 8, max: 64 }).chain(hex)
const count = fc.oneof(fc.nat({ max: 300 }), fc.maxSafeNat())
const positive = count.map(n => Math.max(1, n))
const shown = fc.oneof(
  hostile,
  hostile.map(start => ({ start })),
  hostile.map(end => ({ end })),
)

/** An object with all of its keys. */
function record<T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(shape, { noNullPrototype: true })
}

/** An object with some of its keys left out. */
function some<T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(shape, { requiredKeys: [], noNullPrototype: true })
}

const earlier = fc
  .tuple(record({ tool: named }), some({ argument: shown, calls_ago: positive, part: positive }))
  .map(([a, b]) => ({ ...a, ...b }))
const toEarlier = fc
  .tuple(record({ ref }), some({ call: earlier }))
  .map(([a, b]) => ({ ...a, ...b }))

const number = fc
  .oneof(
    fc.integer().map(String),
    fc.constantFrom('-0', '1.0', '1e400', '12345678901234567890', '0.5e-3'),
  )
  .map(text => {
    const parsed = parseJson(text)
    return parsed.ok ? (parsed.value as number | NumberLiteral) : 0
  })
const scalar = fc.oneof(hostile, number, fc.boolean(), fc.constant(null))
const json = fc.letrec<{ json: Json }>(tie => ({
  json: fc.oneof(
    { maxDepth: 3 },
    hostile,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map(n => n + 0),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(hostile, tie('json'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).json

const call = record({
  name: named,
  args: fc.dictionary(named, json, { maxKeys: 3, noNullPrototype: true }),
})
const part = fc
  .tuple(
    record({ unit: fc.stringMatching(/^[A-Za-z][A-Za-z_-]{0,15}$/), omitted: positive }),
    some({ of: count, at: fc.oneof(named, fc.constantFrom('lines 3-9', '$.a[1:-2].b')) }),
  )
  .map(([a, b]) => {
    const of = b.of === undefined ? {} : { of: Math.max(b.of, a.omitted) }
    return { ...a, ...b, ...of }
  })
/** A chunk behind the first, of so many. */
const chunk = fc
  .tuple(fc.integer({ min: 2, max: 1e6 }), fc.nat({ max: 1e6 }))
  .map(([at, more]) => ({ chunk: at, of: at + more }))

/** One arbitrary for each family. */
export const HINTS = {
  reference: toEarlier.map(fields => ({ family: 'reference' as const, ...fields })),
  near_reference: fc
    .tuple(
      toEarlier,
      fc.array(record({ path: hostile, from: scalar, to: scalar }), {
        minLength: 1,
        maxLength: 3,
      }),
    )
    .map(([fields, changes]) => ({ family: 'near_reference' as const, ...fields, changes })),
  lines: fc
    .tuple(
      toEarlier,
      positive,
      fc.nat({ max: 99 }),
      some({ shift: fc.integer().filter(n => n !== 0) }),
    )
    .map(([fields, first, more, shift]) => {
      const from = Math.min(first, Number.MAX_SAFE_INTEGER - more)
      return { family: 'lines' as const, ...fields, first: from, last: from + more, ...shift }
    }),
  overflow: fc
    .tuple(positive, call, some({ unit: named }), fc.boolean())
    .map(([omitted, found, unit, short]) => {
      const names = Object.keys(found.args)
      const changed = short && names.length > 0 ? { changed: names.slice(0, 1) } : {}
      return { family: 'overflow' as const, omitted, call: found, ...unit, ...changed }
    }),
  format: fc
    .tuple(
      fc.constantFrom('csv@1', 'tree@2', 'json_compact@1', 'ndjson@1;csv@1,python'),
      some({ from: named, rows: count, columns: count }),
    )
    .map(([format, fields]) => ({ family: 'format' as const, format, ...fields })),
  metadata: fc
    .tuple(
      record({ total: count, returned: count }),
      some({ query: shown, sort: record({ by: named, order: named }) }),
    )
    .map(([a, b]) => ({ family: 'metadata' as const, ...a, ...b })),
  elision: fc
    .tuple(
      hex(24),
      fc.array(part, { minLength: 1, maxLength: 3 }),
      some({ summary: shown, next: chunk }),
    )
    .map(([hash, parts, more]) => ({ family: 'elision' as const, hash, parts, ...more })),
  search_chain: fc.tuple(positive, fc.nat({ max: 9 })).map(([searches, more]) => {
    const of = Math.min(searches, Number.MAX_SAFE_INTEGER - more) + more
    return { family: 'search_chain' as const, searches: of - more, of }
  }),
} satisfies { [F in Hint['family']]: fc.Arbitrary<Extract<Hint, { family: F }>> }

export const verbosity: fc.Arbitrary<Verbosity> = fc.constantFrom(...VERBOSITIES)
