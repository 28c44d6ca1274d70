import { encode as encodeToon } from '@toon-format/toon'
import { measureViews } from '../../src/cli/views/measure-views.ts'
import { readPipelineConfig } from '../../src/config/pipeline.ts'
import { percent } from '../../src/console/table.ts'
import { AppError } from '../../src/core/base/errors.ts'
import type { CompressRequest } from '../../src/core/contract/compress.ts'
import {
  compressMessages,
  tokensAfter,
} from '../../src/core/conversation/rewrite/compress-messages.ts'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import { parseHint } from '../../src/core/hints/hint-line.ts'
import { parseJson } from '../../src/core/json/parse-json.ts'
import { equalValues } from '../../src/core/json/value.ts'
import { decodeOperation } from '../../src/core/operations/decode.ts'
import { encodeOperation } from '../../src/core/operations/encode.ts'
import { encodeContent } from '../../src/core/pipeline/encode-content.ts'
import type { PipelineConfig } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { READING_LEVELS } from '../../src/core/reading/constructs.ts'
import type { Level } from '../../src/core/reduce/trim/levels.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { type Measured, measureAll } from '../../src/lab/bench/measure.ts'
import { type Sums, sumAll, sumBy } from '../../src/lab/bench/report.ts'
import { samplesOfCorpus } from '../../src/lab/bench/samples.ts'
import { readResults } from '../../src/lab/replay/read-results.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { isContainer, jsonPayloads, recordedResults } from '../support/corpus.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { conversationsOf } from '../turns/conversations.ts'

const HEADER =
  'texts,reduced,tokens,lossless,elided,saved,of lossless,critical kept,restored'.split(',')

/** What elision saves, whether critical parts are left, and whether markers give the bytes back. */
export async function elided(corpus: string): Promise<string> {
  const measured = await measureAll(samplesOfCorpus(corpus), createLocalContext(), () => {})
  return [
    table('kind', measured, ({ sample }) => sample.kind),
    table('source', measured, ({ sample }) => sample.group),
  ].join('\n\n')
}

function table(name: string, measured: readonly Measured[], keyOf: (each: Measured) => string) {
  const rows = [...sumBy(measured, keyOf)].sort(([, a], [, b]) => b.tokens_in - a.tokens_in)
  return markdownTable(
    [name, ...HEADER],
    [...rows, ['all', sumAll(measured)] as const].map(([key, sums]) => rowOf(key, sums)),
  )
}

function rowOf(name: string, sums: Sums): (string | number)[] {
  const { texts, reduced, tokens_in, tokens_lossless, tokens_out } = sums
  return [
    ...[name, texts, reduced, tokens_in, tokens_lossless, tokens_out],
    percent(tokens_in - tokens_out, tokens_in),
    percent(tokens_lossless - tokens_out, tokens_lossless),
    `${sums.critical_kept}/${sums.critical}`,
    `${sums.restored}/${sums.markers}`,
  ]
}

const BUDGET = 8_000
/** Smaller results are on one page whatever is done. */
const LEAST_TOKENS = 1_000
/** Where no level is left out for want of room. */
const NO_BUDGET = 10_000_000
const WAYS = ['json', 'toon', 'ours', 'standard', 'minimal'] as const

/** Tokens of one list or diff as compact JSON, as TOON, as our lossless text and at two levels. */
type Sizes = Readonly<Record<(typeof WAYS)[number], number>> & { readonly source: string }

/** Lists and diffs of a corpus at a budget: what is saved, and how many pages it makes. */
export function lists(corpus: string): string {
  const context = { ...createLocalContext(), keepsOriginals: true }
  const counter = context.counters.get('o200k_base')

  function measure(source: string, content: string): Sizes | null {
    const isJson = isContainer(content)
    const value: unknown = isJson ? JSON.parse(content) : undefined
    const json = counter.count(isJson ? JSON.stringify(value) : content)
    if (json < LEAST_TOKENS) return null
    const trim = (budget_tokens: number, level: Level) =>
      encodeContent({ content, mode: 'trim', budget_tokens, level }, context).answer
    const { chunks } = trim(Math.floor(json / 4), 'full')
    // What is no list has no chunks; of texts only diffs are asked about.
    if (chunks === undefined || (!isJson && !/ files?, \+/.test(chunks[0]!.summary))) return null
    return {
      source: `${isJson ? 'lists' : 'diffs'}: ${source}`,
      json,
      toon: isJson ? counter.count(encodeToon(value)) : json,
      ours: encodeContent({ content }, context).answer.tokens.final,
      standard: trim(NO_BUDGET, 'standard').tokens.final,
      minimal: trim(NO_BUDGET, 'minimal').tokens.final,
    }
  }

  const all: Sizes[] = []
  for (const { source, content } of recordedResults(corpus)) {
    try {
      const sizes = measure(source, content)
      if (sizes !== null) all.push(sizes)
    } catch (error) {
      // Nothing of it fits into a quarter.
      if (!(error instanceof AppError && error.code === 'budget_too_small')) throw error
    }
  }
  const groups = [...Map.groupBy(all, ({ source }) => source), ['all', all] as const]
  const rows = groups.map(([name, some]) => {
    const sum = (of: (sizes: Sizes) => number) => some.reduce((total, row) => total + of(row), 0)
    const [json = 0, ...others] = WAYS.map(way => sum(sizes => sizes[way]))
    const pages = WAYS.map(way => sum(sizes => Math.ceil(sizes[way] / BUDGET)))
    const shares = others.map(tokens => `${(100 * (1 - tokens / json)).toFixed(1)} %`)
    return [name, some.length, json, ...shares, pages.join(' / ')]
  })
  const header = ['what', 'results', 'JSON tokens', 'TOON saves', 'ours', 'standard', 'minimal']
  return `Pages of ${BUDGET} tokens: JSON / TOON / ours / standard / minimal.\n\n${markdownTable([...header, 'pages'], rows)}`
}

const LEVELS = ['full', 'standard', 'compact'] as const

/** Each JSON payload at each level, and of recorded results how often later calls quote what is hidden. */
export function views(corpus: string): string {
  const pipeline = readPipelineConfig({ data_dir: '/nowhere' })
  const context = { ...createLocalContext(), keepsOriginals: true, pipeline }

  /** Whether a lossless text decodes to its input, and a marker names the kept original. */
  function isTrue(content: string, run: ReturnType<typeof encodeOperation.run>): boolean {
    const { answer, keep = [] } = run
    if (!answer.lossless) {
      const marker = parseHint(answer.content.split('\n').at(-1) ?? '')
      const [original] = keep
      return (
        marker?.family === 'elision' && Buffer.from(original?.bytes ?? []).toString() === content
      )
    }
    const { format } = answer
    const decoded = decodeOperation.run({ content: answer.content, format }, context).answer
    const [left, right] = [parseJson(content), parseJson(decoded.content)]
    return left.ok && right.ok ? equalValues(left.value, right.value) : decoded.content === content
  }

  const saved = (part: number, whole: number) => `${(100 - (100 * part) / whole).toFixed(1)} %`
  const rows = Array.from(jsonPayloads(corpus), ([folder, files]) => {
    let [before, viewed, faults] = [0, 0, 0]
    const after = { full: 0, standard: 0, compact: 0 }
    for (const content of files.values()) {
      for (const level of LEVELS) {
        const run = encodeOperation.run({ content, response_budget: level }, context)
        after[level] += run.answer.tokens.final
        if (level === 'full') before += run.answer.tokens.baseline
        if (level === 'compact' && run.answer.view !== undefined) viewed++
        if (!isTrue(content, run)) faults++
      }
    }
    return [folder, files.size, viewed, ...LEVELS.map(level => saved(after[level], before)), faults]
  })
  const known = Array.from(measureViews(readResults(corpus).results, context), ([view, each]) => [
    view,
    each.results,
    ...[each.lossless, each.standard, each.compact].map(part => saved(part, each.before)),
    `${each.neededLater} of ${each.inSessions}`,
  ])
  const levels = ['lossless', 'standard', 'compact']
  return [
    markdownTable(['payloads', 'results', 'with a view', ...levels, 'faults'], rows),
    markdownTable(['view', 'results', ...levels, 'quoted later'], known),
  ].join('\n\n')
}

/** Recorded conversations, cut where the context was compacted, as `/v1/compress` writes them. */
export function conversations(corpus: string): string {
  const usual = readPipelineConfig({ data_dir: '/nowhere' })
  const terms = { redeems: true, bypass: false }
  const local = { ...createLocalContext(), keepsOriginals: true, terms }
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  const recorded = conversationsOf(corpus).map(({ steps }) =>
    steps.flatMap(({ tool, args, text, isError }, i) => {
      const id = `call_${i}`
      const result = { type: 'tool_result', tool_use_id: id, content: text }
      return [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input: args }] },
        { role: 'user', content: [isError ? { ...result, is_error: true } : result] },
      ]
    }),
  )

  function measure(name: string, references: boolean, pipeline: PipelineConfig) {
    const all = recorded.flatMap(messages => {
      const history = createHistoryMemory(1)
      const rewrites = { tenant: '', memory, recalled: {}, history }
      const request: CompressRequest = { messages, config: { references } }
      return compressMessages(request, { ...local, pipeline, rewrites }).payloads
    })
    const before = all.reduce((sum, { tokens }) => sum + tokens, 0)
    const cut = all.filter(({ rewritten }) => rewritten?.answer.lossless === false).length
    const shares = [1 - tokensAfter(all) / before, cut / all.length]
    return [name, all.length, before, ...shares.map(share => `${(100 * share).toFixed(1)} %`)]
  }

  const from20k = (level: 'standard' | 'compact'): PipelineConfig => {
    const pressure = [{ from_tokens: 20_000, level }]
    return { ...usual, views: { ...usual.views, pressure } }
  }
  return markdownTable(
    ['texts', 'of', 'tokens', 'saved', 'with parts left out'],
    [
      measure('each by itself', false, usual),
      measure('references', true, usual),
      ...READING_LEVELS.map(level =>
        measure(`references, \`${level}\` reading`, true, {
          ...usual,
          reading: { ...usual.reading, level },
        }),
      ),
      measure('references, and `standard` views from 20,000', true, from20k('standard')),
      measure('references, and `compact` views from 20,000', true, from20k('compact')),
    ],
  )
}
