import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FigureReader } from '../../../../../src/core/conversation/usage/figure-reader.ts'
import {
  type AnswerForm,
  createUsageReader,
} from '../../../../../src/core/conversation/usage/usage-reader.ts'
import { ROUTE_NAMES, type RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { anyText } from '../../../../support/any-text.ts'
import { leastHits, runs } from '../../../../support/runs.ts'

/** Keys that matter, and some that only look like it. */
const KEYS = [
  'usage',
  'message',
  'response',
  'model',
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation',
  'ephemeral_1h_input_tokens',
  'prompt_tokens',
  'prompt_tokens_details',
  'input_tokens_details',
  'cached_tokens',
  'usageMetadata',
  'promptTokenCount',
  'inputTokens',
  'content',
  '__proto__',
  'toString',
  'us"age',
  'usage\\',
  '',
]

const { json } = fc.letrec(tie => ({
  json: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.constantFrom(null, true, false, '{"usage":{"input_tokens":9}}', 'a\\"b', '"', '\\'),
    fc.nat(1_000_000),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    anyText(),
    fc.array(tie('json'), { maxLength: 4 }),
    tie('object'),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie('json')), { maxLength: 6 })
    .map(entries => Object.fromEntries(entries)),
}))

const number = fc.oneof(fc.nat(1_000_000), json)
const usage = fc.record(
  {
    prompt_tokens: number,
    input_tokens: number,
    output_tokens: number,
    cache_creation: fc.record({ ephemeral_1h_input_tokens: number }),
    prompt_tokens_details: fc.record({ cached_tokens: number }),
  },
  { requiredKeys: ['input_tokens'] },
)
const body = { content: json, model: fc.oneof(fc.string(), json), usage: fc.oneof(usage, json) }
const inner = fc.record(body, { requiredKeys: [] })

/** Mostly like an answer, or the data of one of its events. */
const answer = fc.oneof(
  json,
  fc.record({ ...body, message: inner, response: inner }, { requiredKeys: [] }),
)

/** The bytes in pieces, some of them empty. */
function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [...cuts.map(cut => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return at.map((end, index) => bytes.subarray(index === 0 ? 0 : at[index - 1], end))
}

const someCuts = fc.array(fc.nat(), { maxLength: 12 })

function foundIn(route: RouteName, form: AnswerForm, chunks: readonly Uint8Array[]) {
  const reader = createUsageReader(route, form)
  for (const chunk of chunks) reader.read(chunk)
  return reader.found
}

describe('reading what an answer used', () => {
  it('finds what JSON.parse and a walk find, however the text is cut and laid out', () => {
    const places = {
      model: 'model',
      usage: { input_tokens: 'input', cache_creation: { ephemeral_1h_input_tokens: 'long' } },
      message: { usage: { output_tokens: 'output' } },
    } as const
    const indents = fc.constantFrom('', ' ', '\t')
    let found = 0
    fc.assert(
      fc.property(answer, indents, someCuts, (value, indent, cuts) => {
        const text = JSON.stringify(value, null, indent)
        const figures: Record<string, string> = {}
        const reader = new FigureReader(places, (name, figure) => {
          figures[name] = figure
        })
        for (const chunk of pieces(Buffer.from(text), cuts)) reader.read(chunk)
        const expected: Record<string, string> = {}
        // Some answers are lists.
        for (const each of [value].flat(20)) walk(places, each, expected)
        expect(figures).toEqual(expected)
        found += Object.keys(expected).length
      }),
      { numRuns: runs(3_000) },
    )
    expect(found).toBeGreaterThanOrEqual(leastHits(runs(3_000) / 10))
  })

  it('finds the same in any pieces of a stream, whatever its line ends', () => {
    const ends = fc.constantFrom('\n', '\r\n', '\r')
    const events = fc.array(answer, { maxLength: 6 })
    let found = 0
    fc.assert(
      fc.property(
        fc.constantFrom(...ROUTE_NAMES),
        events,
        ends,
        someCuts,
        (route, values, end, cuts) => {
          const lines = values.flatMap(value => [
            'event: usage',
            ': data: {"usage":{"input_tokens":1}}',
            ...JSON.stringify(value, null, 1)
              .split('\n')
              .map(line => `data: ${line}`),
            'database: {"usage":{"input_tokens":2}}',
            '',
          ])
          const stream = lines.map(line => line + end).join('')
          const whole = foundIn(route, 'events', [Buffer.from(stream)])
          if (whole !== null) found += 1
          expect(foundIn(route, 'events', pieces(Buffer.from(stream), cuts))).toEqual(whole)
          const json = createUsageReader(route, 'events')
          for (const value of values) json.read(Buffer.from(`data:${JSON.stringify(value)}\n\n`))
          expect(whole).toEqual(json.found)
        },
      ),
      { numRuns: runs(1_000) },
    )
    expect(found).toBeGreaterThanOrEqual(leastHits(runs(1_000) / 10))
  })

  it('a reader of usage takes any bytes', () => {
    const forms = fc.constantFrom<AnswerForm>('json', 'events', 'frames')
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: fc.constantFrom(...'{}[]":,\\ 19-e.\r\ndata: usage'), maxLength: 200 }),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...ROUTE_NAMES),
        forms,
        bytes,
        someCuts,
        (route, form, some, cuts) => {
          const chunk = Buffer.from(some as Uint8Array)
          expect(foundIn(route, form, pieces(chunk, cuts))).toEqual(foundIn(route, form, [chunk]))
        },
      ),
      { numRuns: runs(2_000) },
    )
  })
})

type Places = { readonly [key: string]: string | Places }

/** The figures that lie in the places, by a walk through the parsed value. */
function walk(places: Places, value: unknown, found: Record<string, string>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  for (const [key, place] of Object.entries(places)) {
    if (!Object.hasOwn(value, key)) continue
    const member = (value as Record<string, unknown>)[key]
    if (typeof place === 'object') walk(place, member, found)
    else if (typeof member === 'number') found[place] = JSON.stringify(member)
    else if (typeof member === 'string') {
      const literal = JSON.stringify(member).slice(1, -1)
      const isShort = Buffer.byteLength(literal) <= 256 && !literal.includes('\\')
      if (isShort) found[place] = Buffer.from(literal).toString('latin1')
    }
  }
}
