import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blockFor } from '../../../../../src/core/conversation/prefix/steer-verbosity.ts'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'
import { runs } from '../../../../support/runs.ts'

const BLOCK = blockFor('terse')
const ENDS = fc.constantFrom({}, { cache_control: { type: 'ephemeral' } })
const words = fc.string({ unit: 'grapheme', maxLength: 40 })
const part = fc
  .tuple(fc.oneof(words, fc.constant(`A ${blockFor('minimal')}`)), ENDS)
  .map(([text, ends]) => ({ type: 'text', text, ...ends }))
const system = fc.oneof(words, fc.array(part, { maxLength: 4 }), fc.constant(undefined))
const schema = fc.dictionary(words, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
const tool = fc
  .tuple(words, schema, ENDS)
  .map(([name, input_schema, ends]) => ({ name, input_schema, ...ends }))
const request = fc.record(
  {
    model: fc.constant('claude-x'),
    system,
    tools: fc.array(tool, { maxLength: 5 }),
    max_tokens: fc.nat(),
  },
  { requiredKeys: ['model'] },
)

/** The text of a prompt up to the last breakpoint in its tools and instructions, in their order. */
function cachedHead(text: string): string {
  const { tools = [], system: said } = JSON.parse(text)
  const parts = [...tools, ...(Array.isArray(said) ? said : [{ text: said }])]
  const last = parts.findLastIndex(each => each.cache_control !== undefined)
  return JSON.stringify(parts.slice(0, last + 1))
}

const withMessages = (fields: object, turns: number) => {
  const more = Array.from({ length: turns }, (_, i) => [
    { role: 'assistant', content: `Step ${i}` },
    { role: 'user', content: `More ${i}` },
  ])
  return JSON.stringify({ ...fields, messages: [{ role: 'user', content: 'Go.' }, ...more.flat()] })
}

describe('steering', () => {
  const pipeline = { steering: { verbosity: 'terse' } }

  it('changes nothing before the last breakpoint, and nothing else than instructions', () => {
    fc.assert(
      fc.property(request, fields => {
        const body = withMessages(fields, 0)
        const sent = recordingProxy(pipeline).text(body)
        expect(cachedHead(sent)).toBe(cachedHead(body))
        const without = (text: string) => ({ ...JSON.parse(text), system: undefined })
        expect(without(sent)).toEqual(without(body))
        const instructions = JSON.stringify(JSON.parse(sent).system ?? null)
        const before = JSON.stringify(JSON.parse(body).system ?? null)
        const isSteered = instructions.includes(BLOCK)
        const isCached = before.includes(blockFor('minimal'))
        expect(isSteered || isCached || fields.system === undefined).toBe(true)
        // What is sent needs no more.
        expect(recordingProxy(pipeline).text(sent)).toBe(sent)
      }),
      { numRuns: runs(300) },
    )
  })

  it('sends the same in every turn and process, whatever the configuration becomes', () => {
    const change = fc.constantFrom({}, pipeline, { steering: { verbosity: 'minimal' } })
    fc.assert(
      fc.property(request, fc.array(change, { minLength: 2, maxLength: 5 }), (fields, changes) => {
        const store: Store = new Map()
        const heads = changes.map((each, turns) => {
          const text = recordingProxy(each, { store }).text(withMessages(fields, turns))
          return JSON.stringify({ ...JSON.parse(text), messages: undefined })
        })
        const first = changes[0] as object
        // One that began without is never steered; one that began with is found again.
        if (first === pipeline) {
          const again = recordingProxy(pipeline, { store }).text(withMessages(fields, 0))
          expect(JSON.stringify({ ...JSON.parse(again), messages: undefined })).toBe(heads[0])
        } else if (Object.keys(first).length === 0) expect(new Set(heads).size).toBe(1)
      }),
      { numRuns: runs(200) },
    )
  })
})

describe('normalised tools', () => {
  it('are the same values in another order, with one breakpoint at most', () => {
    const pipeline = { cache_align: { normalise: true } }
    fc.assert(
      fc.property(request, fields => {
        const body = withMessages(fields, 0)
        const sent = JSON.parse(recordingProxy(pipeline).text(body))
        const { tools = [], ...rest } = JSON.parse(body)
        const { tools: list = [], ...others } = sent
        expect(others).toEqual(rest)
        const values = (all: object[]) =>
          all.map(each => JSON.stringify(sortedKeys({ ...each, cache_control: undefined }))).sort()
        expect(values(list)).toEqual(values(tools))
        const ends = (all: { cache_control?: object }[]) =>
          all.filter(each => each.cache_control !== undefined).length
        expect(ends(list)).toBeLessThanOrEqual(Math.max(1, ends(tools)))
      }),
      { numRuns: runs(300) },
    )
  })
})

function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.map(([key, inner]) => [key, sortedKeys(inner)])
}
