import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/parse-json.ts'
import type { TelemetryEvent } from '../../../src/core/telemetry/event.ts'
import { formatLevels, formatsOf, MAX_LEVEL } from '../../../src/lab/format-levels.ts'
import type { Mined } from '../../../src/lab/mine-log.ts'
import { countShare, medianShare, type ShareCounts } from '../../../src/lab/study/counts.ts'
import { conditionsOf, namesOf } from '../../../src/lab/study/predicates.ts'
import { Study } from '../../../src/lab/study/study.ts'

const plain: TelemetryEvent = {
  schema_version: 1,
  session_hash: '0123456789abcdef',
  tool_name_anon: 'Read',
  endpoint_class: 'Read',
  response_chars: 400,
  shape: 'prose',
  inner_formats: [],
  content_sha_prefix: '0'.repeat(32),
  is_dedup_hit: false,
  layer_used: 'L3',
  tokenizer: 'o200k_base',
  tokens_baseline: 100,
  tokens_final: 100,
  dedup_tokens_saved: 0,
  encoder_tokens_saved: 0,
  elided_tokens_saved: 0,
  context_partition: 0,
  is_sidechain: false,
  ts_ms: 0,
  sample_rate_applied: 1,
}

function mined(more: Partial<TelemetryEvent>, saved = 0, notation: string | null = null): Mined {
  const layer = notation === null ? {} : { layer_used: 'L2' as const }
  const tokens = { tokens_final: 100 - saved, encoder_tokens_saved: saved }
  return { event: { ...plain, ...layer, ...tokens, ...more }, notation, levels: [], identity: null }
}

function study(results: readonly (readonly [number, Mined])[]) {
  const builder = new Study()
  for (const [times, each] of results) for (let i = 0; i < times; i++) builder.add(each)
  return builder.result()
}

const table = { shape: 'markdown_table', n_cols: 9, n_rows: 3 } as const

describe('rules', () => {
  it('are the simplest predicates that tell where a notation is sent', () => {
    const { rules } = study([
      [30, mined({ ...table, response_chars: 9_000 }, 50, 'csv@1')],
      [40, mined({ ...table, response_chars: 300 })],
      [25, mined({ shape: 'nested_object', depth: 3, inner_formats: ['url'] }, 20, 'tree@2')],
      [25, mined({ shape: 'nested_object', depth: 3, inner_formats: ['diff'] })],
      [500, mined({})],
    ])
    expect(rules).toMatchObject([
      {
        ...{ shape: 'markdown_table', conditions: ['bytes ≥ 500'], notation: 'csv@1' },
        ...{ support: 30, confidence: 1, median_saving: 0.5, saved_tokens: 1_500, covered: 0.75 },
      },
      // Half of all is enough; that it is all of those with a URL is told by no more savings.
      { shape: 'nested_object', conditions: [], support: 50, confidence: 0.5, covered: 1 },
    ])
  })

  it('rules of a study need support', () => {
    expect(study([[19, mined(table, 50, 'csv@1')]]).rules).toEqual([])
    expect(study([[20, mined(table, 50, 'csv@1')]]).rules).toHaveLength(1)
  })

  it('rules of a study need confidence', () => {
    const mixed = study([
      [20, mined(table, 50, 'csv@1')],
      [21, mined(table)],
    ])
    expect(mixed.rules).toEqual([])
  })
})

describe('the study', () => {
  it('counts references apart from notations', () => {
    const reference = mined({
      ...{ is_dedup_hit: true, layer_used: 'L0', session_hash: 'f'.repeat(16) },
      ...{
        dedup_tokens_saved: 80,
        encoder_tokens_saved: 10,
        tokens_final: 10,
        context_partition: 2,
      },
    })
    const { encoded, shapes, sums, endpoints, ...rest } = study([
      [1, mined({}, 100, 'x@1')],
      [1, mined({}, 20, 'x@1')],
      [1, mined({}, 19, 'x@1')],
      [2, mined({})],
      [1, reference],
    ])
    expect(encoded.histogram.map(({ results }) => results)).toEqual([
      2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1,
    ])
    expect(encoded.applicable).toEqual({ results: 2, tokens: 200, saved_tokens: 120 })
    expect(encoded.notations).toMatchObject({
      'x@1': { results: 3, applicable: 2 },
      none: { results: 2 },
    })
    expect(shapes.prose).toEqual({ results: 6, tokens: 600, saved_tokens: 139 })
    expect(sums).toMatchObject({ results: 6, l0Results: 1, l0Final: 10, encoderSaved: 139 })
    expect(endpoints).toMatchObject([
      {
        endpoint: 'Read',
        shape_share: 1,
        notation: 'x@1',
        support: 5,
        confidence: 0.6,
        median_saving: 0.2,
        applicable: 2,
      },
    ])
    expect(rest).toMatchObject({ sessions: 2, sessions_compacted: 1, tokenizer: 'o200k_base' })
  })

  it('sums up endpoints beyond the ten thousandth', () => {
    const builder = new Study()
    for (let i = 0; i < 10_003; i++) builder.add(mined({ endpoint_class: `e${i}` }))
    const { endpoints } = builder.result()
    expect(endpoints).toHaveLength(10_001)
    expect(endpoints[0]).toMatchObject({ endpoint: 'others', support: 3 })
  })

  it('tells at which level formats are', () => {
    const builder = new Study()
    const deep = { ...mined({ shape: 'nested_object' }), levels: [0, 1, 3] }
    builder.add(deep)
    builder.add({ ...mined({ shape: 'nested_object' }), levels: [1] })
    expect(builder.result().nesting).toEqual({
      shapes: { nested_object: { results: 2, with_formats: 2, deep: 1 } },
      levels: { url: [1, 1, 1, 0, 0, 0], log: [0, 0, 1, 0, 0, 0] },
    })
  })
})

describe('formatLevels', () => {
  it('finds formats by the objects and arrays around them', () => {
    const url = '"see https://example.org/a"'
    const at = (text: string) => {
      const parsed = parseJson(text)
      return parsed.ok ? formatLevels(parsed.value).map(mask => formatsOf(mask).join()) : null
    }
    expect(at(`{"a": ${url}, "b": [{"c": 1}]}`)).toEqual(['url', '', ''])
    expect(at(`[[${url}, 1], {"x": {"y": ${url}}}]`)).toEqual(['', 'url', 'url'])
    expect(at(url)).toEqual([])
    const deep = at(`${'['.repeat(400)}${url}${']'.repeat(400)}`)
    expect(deep).toHaveLength(MAX_LEVEL)
    expect(deep?.at(-1)).toBe('url')
    const each = Array.from({ length: 8 }, (_, i) => (i === 0 || i === 4 || i === 7 ? url : '1'))
    const nested = each.reduceRight((inner, value) => `[${value}${inner && `,${inner}`}]`, '')
    expect(at(nested)).toEqual(['url', '', '', '', 'url', 'url'])
  })
})

describe('conditions', () => {
  it('hold from their bounds on', () => {
    const names = (more: Partial<TelemetryEvent>) => namesOf(conditionsOf({ ...plain, ...more }))
    expect(names({ response_chars: 499 })).toEqual([])
    expect(names({ response_chars: 8_000, n_cols: 2, key_stability: 0.9 })).toEqual([
      ...['bytes ≥ 500', 'bytes ≥ 2,000', 'bytes ≥ 8,000', 'columns ≥ 2', 'key stability ≥ 0.9'],
    ])
    expect(names({ inner_formats: ['url', 'prose'] })).toEqual(['url', 'prose'])
  })
})

describe('medianShare', () => {
  it('is the lower median to a whole percent', () => {
    const counts: ShareCounts = new Map()
    expect(medianShare(counts)).toBeNull()
    for (const share of [0.5, -3, 0.256, 0.99]) countShare(counts, share)
    expect(medianShare(counts)).toBe(0.25)
  })
})
