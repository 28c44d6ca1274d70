import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AgentContexts } from '../../../../src/ahead/agent-contexts.ts'
import { canonicalArguments } from '../../../../src/core/enrich/call-key.ts'
import { acceptsArguments } from '../../../../src/core/enrich/input-schema.ts'
import { type Offer, Probabilities } from '../../../../src/core/enrich/probability.ts'
import { projectCalls } from '../../../../src/core/enrich/projections.ts'
import { readTrigger } from '../../../../src/core/enrich/result-values.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { ObjectValue, type Value } from '../../../../src/core/json/value.ts'
import { runs } from '../../../support/runs.ts'

function read(json: string): Value {
  const parsed = parseJson(json)
  if (!parsed.ok) throw new Error(json.slice(0, 80))
  return parsed.value
}

const KEYS = ['id', 'path', 'url', 'files', 'items', 'a'] as const
const scalar = fc.oneof(
  fc.constantFrom('1', '1.0', '12345678901234567890', 'true', 'null', '"x"', '"a/b.ts"', '""'),
  fc.constantFrom('"https://a.b/c"', '"a\\u0000b"', '"src/c.ts:12:x"'),
)
/** JSON texts of lists and objects with a few keys that are looked for. */
const { json } = fc.letrec<{ json: string }>(tie => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('json'), { maxLength: 5 }).map(items => `[${items.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie('json')), { maxLength: 5 })
      .map(members => `{${members.map(([key, value]) => `"${key}":${value}`).join()}}`),
  ),
}))
const line = fc.constantFrom('src/a.ts', 'b.ts:3:x', 'https://a.b', 'Found 3 files', '', 'x y z: w')
const text = fc.oneof(
  json,
  fc.array(line, { maxLength: 12 }).map(lines => lines.join('\n')),
  fc.string(),
)

const SCHEMAS = [
  undefined,
  '{"type":"object","properties":{"arg":{"type":"string"}},"required":["arg"]}',
  '{"type":"object","properties":{"arg":{"type":"integer"}},"required":["arg","repo"]}',
  '{"type":"object","properties":{"arg":{"enum":["x",1,true]}},"additionalProperties":false}',
]

describe('calls that a result offers', () => {
  it('are at most three, different, accepted by the schema, and free of control characters', () => {
    let offered = 0
    fc.assert(
      fc.property(
        text,
        fc.constantFrom(...KEYS),
        fc.constantFrom(...SCHEMAS),
        (text, key, schema) => {
          const link = { tool: 't', probability: 1, projection: key, projection_arg: 'arg' }
          const inputSchema = schema === undefined ? undefined : read(schema)
          const triggerArgs = read('{"repo":"r","other":1}')
          const calls = projectCalls(link, readTrigger(text), { inputSchema, triggerArgs })
          offered += calls.length
          expect(calls.length).toBeLessThanOrEqual(3)
          expect(new Set(calls.map(({ args }) => args)).size).toBe(calls.length)
          for (const { args, rank, listed } of calls) {
            const value = read(args)
            expect(value instanceof ObjectValue && acceptsArguments(inputSchema, value)).toBe(true)
            expect(canonicalArguments(value)).toBe(args)
            expect(args).not.toMatch(/\\u00[01]/)
            expect(rank <= 3 && rank <= listed).toBe(true)
          }
        },
      ),
      { numRuns: runs(10_000) },
    )
    expect(offered).toBeGreaterThan(runs(10_000) / 10)
  })
})

const offer: fc.Arbitrary<Offer> = fc.record({
  trigger: fc.constantFrom('a', 'b'),
  target: fc.constant('t'),
  prior: fc.double({ min: 0, max: 1, noNaN: true }),
  rank: fc.integer({ min: 1, max: 4 }),
  listed: fc.integer({ min: 1, max: 1_000 }),
})

describe('the probability of an offer', () => {
  it('is from 0 to 1, and moves towards what was observed', () => {
    const history = fc.array(fc.tuple(offer, fc.boolean(), fc.nat(1_000_000_000)), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(history, offer, fc.boolean(), (history, next, isUsed) => {
        let now = 0
        const probabilities = new Probabilities(() => now)
        for (const [each, used, ms] of history) {
          now += ms
          probabilities.observe(each, used)
        }
        const before = probabilities.of(next)
        expect(before >= 0 && before <= 1).toBe(true)
        expect(new Probabilities(() => now, probabilities.save()).of(next)).toBe(before)
        probabilities.observe(next, isUsed)
        const after = probabilities.of(next)
        expect(isUsed ? after >= before : after <= before).toBe(true)
      }),
      { numRuns: runs(2_000) },
    )
  })
})

describe('fail-fast', () => {
  it('never refuses two calls in a row, nor one before n were empty', () => {
    const event = fc.record({ isEmpty: fc.boolean(), ms: fc.constantFrom(0, 1_000, 70_000) })
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 60 }),
        fc.integer({ min: 1, max: 4 }),
        (events, limit) => {
          let now = 0
          const guard = new AgentContexts(() => now)
          let [empty, wasRefused] = [0, false]
          for (const { isEmpty, ms } of events) {
            now += ms
            const refusal = guard.refuse('x', 't', limit)
            expect(refusal !== null && (wasRefused || empty < limit)).toBe(false)
            wasRefused = refusal !== null
            if (wasRefused) empty = 0
            else {
              guard.observeResult('x', 't', isEmpty)
              empty = isEmpty ? empty + 1 : 0
            }
          }
        },
      ),
      { numRuns: runs(2_000) },
    )
  })
})
