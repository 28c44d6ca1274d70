/**
 * Our answers beside other formats for JSON: `npm run bench -- peers CORPUS [--json | --write]`.
 * Each text is decoded by its own decoder, and only those count whose value is the input's. The
 * tokens are those of o200k_base. `--write` puts the tables into bench/results.
 */
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { decode, encode } from '../src/index.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { type Document, readDocuments } from './peers/documents.ts'
import { losslessText, PEERS } from './peers/encoders.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

/** A peer is smaller if it saves more than both. */
const FEWEST_TOKENS = 3
const LEAST_SHARE = 0.005

const options = readOptions({ corpus: REQUIRED, json: false, write: false })
const counters = createTokenCounters(
  loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' }),
)
const counter = counters.get('o200k_base')

interface Row {
  readonly folder: string
  readonly name: string
  readonly compact: number
  readonly ours: number
  readonly format: string
  /** Tokens of each peer; `null` if its decoder does not give the value back. */
  readonly peers: readonly (number | null)[]
}

/** @throws {Error} if our own answer does not come back */
function measure({ folder, name, text }: Document): Row {
  const compactText = decode({ content: text, format: 'json_compact@1' }).content
  const answer = encode({ content: text, tokenizer: 'o200k_base' })
  if (answer.format !== 'passthrough') {
    const restored = decode({ content: answer.content, format: answer.format }).content
    if (restored !== compactText) throw new Error(`${folder}/${name} does not come back`)
  }
  const value: unknown = JSON.parse(text)
  const peers = PEERS.map(peer => {
    const written = losslessText(peer, value)
    return written === null ? null : counter.count(written)
  })
  const compact = counter.count(compactText)
  return { folder, name, compact, ours: answer.tokens.final, format: answer.format, peers }
}

function bestOf({ peers }: Row): { readonly tokens: number; readonly peer: string } | null {
  let best: { tokens: number; peer: string } | null = null
  for (const [i, tokens] of peers.entries()) {
    if (tokens !== null && (best === null || tokens < best.tokens)) {
      best = { tokens, peer: PEERS[i]!.name }
    }
  }
  return best
}

function isSmaller(tokens: number, ours: number): boolean {
  return ours - tokens > Math.max(FEWEST_TOKENS, ours * LEAST_SHARE)
}

const rows = readDocuments(options.corpus).map(measure)
const smaller = rows.flatMap(row => {
  const best = bestOf(row)
  return best !== null && isSmaller(best.tokens, row.ours) ? [{ ...row, best }] : []
})

if (options.json) {
  console.log(JSON.stringify({ machine: machine(), rows, smaller }))
} else {
  const report = toReport()
  if (options.write) writeSection('peers', report)
  console.log(report)
}

function toReport(): string {
  const { node, date } = machine()
  return [
    `${rows.length} documents, Node ${node}, ${date}. Tokens are counted, not timed.`,
    totalsTable(),
    foldersTable(),
    smaller.length === 0
      ? 'No lossless peer is smaller on any document by more than 3 tokens and 0.5 %.'
      : `Smaller by more than 3 tokens and 0.5 % on ${smaller.length} documents:\n\n${smallerTable()}`,
  ].join('\n\n')
}

function totalsTable(): string {
  const totals = PEERS.map(({ name, version }, i) => {
    const decoded = rows.filter(({ peers }) => peers[i] !== null)
    const tokens = sum(decoded.map(({ peers }) => peers[i]!))
    const others = sum(decoded.map(({ ours }) => ours))
    const wins = decoded.filter(({ peers, ours }) => isSmaller(peers[i]!, ours)).length
    return [`${name} ${version}`, tokens, decoded.length, others, wins]
  })
  const all = rows.length
  const compact = sum(rows.map(row => row.compact))
  const ours = sum(rows.map(row => row.ours))
  const above = rows.filter(row => isSmaller(row.compact, row.ours)).length
  const best = sum(rows.map(row => Math.min(bestOf(row)?.tokens ?? row.compact, row.compact)))
  return markdownTable(
    ['format', 'tokens', 'documents decoded', 'ours on these', 'smaller than ours on'],
    [
      ['compact JSON', compact, all, ours, above],
      ...totals,
      ['the best of these for each document', best, all, ours, smaller.length],
      ['ours', ours, all, ours, '–'],
    ],
  )
}

function foldersTable(): string {
  const folders = [...new Set(rows.map(({ folder }) => folder))]
  return markdownTable(
    ['documents of', 'number', 'compact JSON', ...PEERS.map(({ name }) => name), 'ours'],
    folders.map(folder => {
      const own = rows.filter(row => row.folder === folder)
      const peers = PEERS.map((_, i) => sum(own.map(row => row.peers[i] ?? row.compact)))
      const [compact, ours] = [sum(own.map(row => row.compact)), sum(own.map(row => row.ours))]
      return [folder, own.length, compact, ...peers, ours]
    }),
  )
}

function smallerTable(): string {
  return markdownTable(
    ['document', 'ours', 'format', 'best peer', 'tokens'],
    smaller.map(({ folder, name, ours, format, best }) => {
      return [`${folder} ${name}`, ours, format, best.peer, best.tokens]
    }),
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
