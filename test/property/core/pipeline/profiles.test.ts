import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { equalValues } from '../../../../src/core/json/value.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { TEMPLATE_IDS } from '../../../../src/core/pipeline/profile/default-pipeline.ts'
import { FORMAT_IDS } from '../../../../src/core/pipeline/profile/format-ids.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { decode } from '../../../../src/index.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'
import { arbitraryToolText } from '../formats/arbitrary-text.ts'
import { arbitraryTree } from '../formats/tree-values.ts'

const RUNS = fewRuns(900, 40)

const TOOL = 'list_issues'

/** Keys that may be there or not. */
function some(keys: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  return fc.record(keys, { requiredKeys: [] })
}

const config = some({
  mckp: some({
    recursion_depth: fc.nat(16),
    formats_enabled: fc.subarray([...FORMAT_IDS], { minLength: 4 }),
    shape_thresholds: some({
      array_of_objects_min_items: fc.integer({ min: 1, max: 5 }),
      array_of_objects_min_key_stability: fc.double({ min: 0, max: 1, noNaN: true }),
      flat_object_min_fields: fc.integer({ min: 1, max: 5 }),
      markdown_table_min_cols: fc.integer({ min: 1, max: 5 }),
    }),
  }),
  templates: some({ endpoint_overrides: some({ [TOOL]: fc.constantFrom(...TEMPLATE_IDS) }) }),
  profiles: some({
    tokenizer: fc
      .double({ min: 0.01, max: 10, noNaN: true })
      .map(inline_json_cost => ({ variants: { o200k_base: { inline_json_cost } } })),
    llm: some({ prefer_explicit_keys: fc.boolean(), max_inline_nested: fc.nat(80) }).map(
      variant => ({ variants: { default: variant } }),
    ),
    data: fc.constantFrom(...FORMAT_IDS).map(preferred_format => ({
      variants: { all: { endpoint_pattern: TOOL, preferred_format } },
    })),
  }),
})

function encodeWith(toml: object, content: string) {
  const context = {
    counters,
    maxDepth: 256,
    maxDecodedChars: 10_000_000,
    keepsOriginals: false,
    pipeline: pipelineSchema.parse(toml),
  }
  const { answer, reports } = encodeOperation.run({ content, tool: TOOL }, context)
  // Not even the gate has anything to find.
  const refusals = reports.flatMap(report => report.row?.().refusals ?? [])
  expect(refusals.filter(({ reason }) => reason !== 'bigger' && reason !== 'dearer')).toEqual([])
  expect(answer.tokens.final).toBeLessThanOrEqual(answer.tokens.baseline)
  expect(counters.get('o200k_base').count(answer.content)).toBe(answer.tokens.final)
  return answer
}

describe('whatever is configured', () => {
  it('every value comes back, and takes no more tokens', () => {
    const formats = new Set<string>()
    fc.assert(
      fc.property(config, arbitraryTree, (toml, value) => {
        const { content, format } = encodeWith(toml, writeJson(value))
        formats.add(format)
        const decoded = parseJson(decode({ content, format }).content)
        expect(decoded.ok && equalValues(decoded.value, value)).toBe(true)
      }),
      { numRuns: RUNS },
    )
    const expected = FULL_RUNS ? ['tree@2', 'csv@1', 'passthrough'] : []
    expect([...formats]).toEqual(expect.arrayContaining(expected))
    expect(formats.size).toBeGreaterThan(1)
  })

  it('every text comes back as it was, and takes no more tokens', () => {
    fc.assert(
      fc.property(config, arbitraryToolText, (toml, text) => {
        const { content, format } = encodeWith(toml, text)
        const decoded = decode({ content, format })
        if (decoded.media_type === 'text/plain') expect(decoded.content).toBe(text)
        else {
          const [before, after] = [parseJson(text), parseJson(decoded.content)]
          expect(before.ok && after.ok && equalValues(before.value, after.value)).toBe(true)
        }
      }),
      { numRuns: Math.ceil(RUNS / 3) },
    )
  })

  it('the same request and configuration give the same answer', () => {
    fc.assert(
      fc.property(config, arbitraryTree, (toml, value) => {
        const content = writeJson(value)
        expect(encodeWith(structuredClone(toml), content)).toEqual(encodeWith(toml, content))
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    )
  })
})
