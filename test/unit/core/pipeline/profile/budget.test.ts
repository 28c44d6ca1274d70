import { describe, expect, it } from 'vitest'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../../../../src/core/pipeline/profile/resolve.ts'
import { valuationOf } from '../../../../../src/core/pipeline/profile/sections.ts'
import { word } from '../../../../support/made-text.ts'
import { counters } from '../../../../support/vocabularies.ts'

/** Words without a beginning or an end that all have. */
const rows = Array.from({ length: 60 }, (_, id) => ({
  id,
  title: `${word(id + 1)} t${id}t ${word(id + 100)} ${word(id + 200)}`,
  note: `${word(id + 300)} n${id}n ${word(id + 400)} ${word(id + 500)}`,
}))

/** The text of the rows within a budget that only some of it fits. */
function trimmed(config: object, request: Partial<EncodeRequest> = {}): string {
  const context = {
    counters,
    maxDepth: 64,
    maxDecodedChars: 1_000_000,
    keepsOriginals: true,
    pipeline: pipelineSchema.parse(config),
  }
  const content = JSON.stringify(rows)
  const fields = { mode: 'trim', budget_tokens: 900, tool: 'list', ...request } as const
  const { answer } = encodeOperation.run({ content, ...fields }, context)
  expect(answer.lossless).toBe(false)
  return answer.content
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0
const titles = (text: string) => count(text, /\bt\d+t\b/g)
const notes = (text: string) => count(text, /\bn\d+n\b/g)

describe('what fields are worth', () => {
  it('decides which of two are kept', () => {
    const forTitle = trimmed({ endpoint_overrides: { '*': { field_values: { title: 5 } } } })
    const forNote = trimmed({ endpoint_overrides: { '*': { field_values: { note: 5 } } } })
    expect(titles(forTitle)).toBeGreaterThan(20)
    expect(notes(forTitle)).toBeLessThan(3)
    expect(notes(forNote)).toBeGreaterThan(20)
    expect(titles(forNote)).toBeLessThan(3)
  })

  it('drops a field of no worth before anything else', () => {
    const text = trimmed(
      { endpoint_overrides: { '*': { field_values: { note: 0 } } } },
      { budget_tokens: 1_400 },
    )
    expect(notes(text)).toBe(0)
    expect(titles(text)).toBe(60)
  })

  it('is what the tool says, field by field', () => {
    const config = {
      endpoint_overrides: {
        '*': { field_values: { title: 0, note: 0 } },
        list: { field_values: { note: 1 } },
      },
    }
    const text = trimmed(config)
    expect(notes(text)).toBeGreaterThan(20)
    expect(titles(text)).toBe(0)
    expect(notes(trimmed(config, { tool: 'other' }))).toBe(0)
  })
})

it('is within the budget of the configuration where a request to trim names none', () => {
  const config = { format_pipeline: { budget_tokens: 500 } }
  const text = trimmed(config, { budget_tokens: undefined } as unknown as Partial<EncodeRequest>)
  expect(counters.get('o200k_base').count(text)).toBeLessThanOrEqual(500)
})

describe('the strategy', () => {
  const ids = (text: string) => [...text.matchAll(/\bt(\d+)t\b/g)].map(([, id]) => Number(id))
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length
  const field_values = { note: 0 }
  const budget_tokens = 400

  it('is that of the request, else of the tool, else of the configuration', () => {
    const config = {
      format_pipeline: { strategies: { '*': 'trailing', list: 'leading' } },
      endpoint_overrides: { '*': { field_values } },
    }
    expect(mean(ids(trimmed(config, { tool: 'other', budget_tokens })))).toBeGreaterThan(35)
    expect(mean(ids(trimmed(config, { budget_tokens })))).toBeLessThan(25)
    const asked = trimmed(config, { budget_tokens, strategy: 'trailing' })
    expect(mean(ids(asked))).toBeGreaterThan(35)
  })

  it('treats parts alike where nothing says otherwise', () => {
    const { budget } = resolveProfile(undefined, { tool: 'list' })
    expect(budget).toEqual({ strategy: 'default', algorithm: 'auto', fields: new Map() })
    expect(valuationOf(budget).strategy).toBe(valuationOf(budget, 'default').strategy)
    expect(valuationOf(budget, 'leading').strategy).not.toBe(valuationOf(budget).strategy)
  })
})

it.each([
  { format_pipeline: { strategies: { list: 'best' } } },
  { endpoint_overrides: { list: { field_values: { a: -1 } } } },
  { endpoint_overrides: { list: { field_values: { a: Number.NaN } } } },
  { endpoint_overrides: { list: { field_values: { a: Number.POSITIVE_INFINITY } } } },
  { budget: { field_values: {} } },
  { format_pipeline: { default_format: 'json' } },
  { format_pipeline: { margin: 0.9 } },
  { endpoint_overrides: { list: { strategy: '' } } },
])('%j is refused', config => {
  expect(pipelineSchema.safeParse(config).success).toBe(false)
})

it('tools and fields may be named like members of every object', () => {
  const config = pipelineSchema.parse({
    endpoint_overrides: { '*': { field_values: { constructor: 2 } } },
  })
  expect(resolveProfile(config, { tool: 'constructor' }).budget.fields.get('constructor')).toBe(2)
  expect(resolveProfile(config, { tool: '__proto__' }).budget.fields.get('toString')).toBe(
    undefined,
  )
})

it('is within 8,000 tokens where neither the request nor the configuration names a budget', () => {
  const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, name: `item ${id * 7919}` }))
  const content = JSON.stringify(rows)
  const context = { counters, maxDepth: 64, maxDecodedChars: 1_000_000, keepsOriginals: true }
  const { answer } = encodeOperation.run({ content, mode: 'trim' }, context)
  expect(answer.tokens.final).toBeLessThanOrEqual(8_000)
  expect(answer.tokens.final).toBeGreaterThan(7_000)
})
