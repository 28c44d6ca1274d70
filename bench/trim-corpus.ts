import { execFileSync } from 'node:child_process'
import { encode as encodeToon } from '@toon-format/toon'
import { AppError } from '../src/core/base/errors.ts'
import { encodeContent } from '../src/core/pipeline/encode-content.ts'
import type { Level } from '../src/core/reduce/trim/levels.ts'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { median } from './support/statistics.ts'
import { benchSetup } from './support/worker-setup.ts'
import { writeSection } from './support/write-section.ts'
import { recordedResults } from './trim-corpus/lists.ts'

/**
 * npm run bench -- trim-corpus CORPUS [--write]
 *
 * Lists and diffs of a corpus at 8,000 tokens: tokens and pages as compact JSON, as TOON and as
 * ours, in full and per level; peak memory of lists of issues.
 */
const options = readOptions({ corpus: REQUIRED, write: false })

const BUDGET = 8_000
/** Smaller results are on one page whatever is done. */
const LEAST_TOKENS = 1_000
/** Where no level is left out for want of room. */
const NO_BUDGET = 10_000_000
const MEMORY_RUNS = 5
/** Collects garbage early and in full, so that the peak is what is needed. */
const NEEDED_ONLY = ['--gc-global', '--max-semi-space-size=1']

const counters = createTokenCounters(benchSetup().vocabularies)
const context = { counters, maxDepth: 256, maxDecodedChars: 2 ** 24, keepsOriginals: true }
const counter = counters.get('o200k_base')

interface Sizes {
  readonly source: string
  readonly kind: 'lists' | 'diffs'
  readonly json: number
  readonly toon: number
  readonly ours: Readonly<Record<Level, number>>
  /** At the budget. */
  readonly chunks: number
  readonly ms: number
}

function measure(source: string, content: string): Sizes | null {
  const value = parse(content)
  const json = counter.count(value === undefined ? content : JSON.stringify(value))
  if (json < LEAST_TOKENS) return null
  const trim = (budget_tokens: number, level: Level) =>
    encodeContent({ content, mode: 'trim', budget_tokens, level }, context).answer
  const probe = trim(Math.floor(json / 4), 'full')
  const summary = probe.chunks?.[0]?.summary ?? ''
  const isDiff = value === undefined
  // Only diffs are asked about among texts; what is no list has no chunks.
  if (probe.chunks === undefined || (isDiff && !/ files?, \+/.test(summary))) return null
  const toon = value === undefined ? json : counter.count(encodeToon(value))
  const started = performance.now()
  const full = trim(BUDGET, 'full')
  const ms = performance.now() - started
  return {
    source,
    kind: isDiff ? 'diffs' : 'lists',
    json,
    toon,
    ours: {
      full: encodeContent({ content }, context).answer.tokens.final,
      standard: trim(NO_BUDGET, 'standard').tokens.final,
      minimal: trim(NO_BUDGET, 'minimal').tokens.final,
    },
    chunks: full.chunks?.length ?? 1,
    ms,
  }
}

/** `null` if nothing of a content fits. */
function measured(source: string, content: string): Sizes | null {
  try {
    return measure(source, content)
  } catch (error) {
    if (error instanceof AppError && error.code === 'budget_too_small') return null
    throw error
  }
}

function parse(content: string): unknown {
  try {
    const value: unknown = JSON.parse(content)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const rows: Sizes[] = []
for (const { source, content } of recordedResults(options.corpus)) {
  const sizes = measured(source, content)
  if (sizes !== null) rows.push(sizes)
}

const sum = (of: readonly Sizes[], read: (row: Sizes) => number) =>
  of.reduce((all, row) => all + read(row), 0)

const pages = (of: readonly Sizes[], read: (row: Sizes) => number) =>
  sum(of, row => Math.ceil(read(row) / BUDGET))

function tableRow(name: string, of: readonly Sizes[]): (string | number)[] {
  const json = sum(of, row => row.json)
  const share = (tokens: number) => `${(100 * (1 - tokens / json)).toFixed(1)} %`
  return [
    name,
    of.length,
    json,
    share(sum(of, row => row.toon)),
    share(sum(of, row => row.ours.full)),
    share(sum(of, row => row.ours.standard)),
    share(sum(of, row => row.ours.minimal)),
    [
      pages(of, row => row.json),
      pages(of, row => row.toon),
      pages(of, row => row.ours.full),
      pages(of, row => row.ours.standard),
      pages(of, row => row.ours.minimal),
    ].join(' / '),
    sum(of, row => row.chunks),
    median(of.map(row => row.ms)).toFixed(1),
  ]
}

const groups = Map.groupBy(rows, ({ kind, source }) => `${kind}: ${source}`)
const table = markdownTable(
  [
    'what',
    'results',
    'JSON tokens',
    'TOON saves',
    'ours',
    'standard',
    'minimal',
    'pages',
    'chunks',
    'ms',
  ],
  [...[...groups].map(([name, of]) => tableRow(name, of)), tableRow('all', rows)],
)
const memory = [30, 1_000].map(count => {
  const args = [...NEEDED_ONLY, 'bench/trim-corpus/memory.ts', String(count)]
  const peaks = Array.from({ length: MEMORY_RUNS }, () =>
    Number(execFileSync(process.execPath, args)),
  )
  return `${count} items ${(median(peaks) / 1_024).toFixed(1)} MiB`
})
const { node, cores, cpu } = machine()
const report = [
  `Node ${node}, ${cores} cores, ${cpu}; results of at least ${LEAST_TOKENS} tokens that are lists or diffs, budget ${BUDGET}.`,
  'Pages of the budget as a whole: JSON / TOON / ours / standard / minimal; ours is the lossless text. Chunks are those of a request',
  'at the budget, the first of which may tell items in less detail; ms is that request, median.',
  '',
  table,
  '',
  'Peak memory above that of a first small request, garbage collected early, ' +
    `median of ${MEMORY_RUNS} processes: ${memory.join(', ')}.`,
].join('\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('trim-corpus', report)
