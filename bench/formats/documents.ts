import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import * as toon from '@toon-format/toon'
import { TRON } from '@tron-format/tron'
import { dumps, loads } from '@zenoaihq/tson'
import { count, decode, encode } from '../../src/index.ts'
import type { RecordedResult } from '../../src/lab/replay/read-results.ts'
import { isContainer, jsonPayloads } from '../support/corpus.ts'
import { markdownTable } from '../support/markdown-table.ts'

/** A format of another project, with its own encoder and decoder. */
interface Peer {
  readonly name: string
  readonly version: string
  encode(this: void, value: unknown): string
  decode(this: void, text: string): unknown
}

const PEERS: readonly Peer[] = [
  {
    name: 'TOON',
    version: versionOf('@toon-format/toon'),
    encode: value => toon.encode(value),
    decode: text => toon.decode(text),
  },
  {
    name: 'TOON, tabs',
    version: versionOf('@toon-format/toon'),
    encode: value => toon.encode(value, { delimiter: '\t' }),
    decode: text => toon.decode(text),
  },
  {
    name: 'TSON',
    version: versionOf('@zenoaihq/tson'),
    encode: value => dumps(value as Parameters<typeof dumps>[0]),
    decode: text => loads(text),
  },
  {
    name: 'TRON',
    version: versionOf('@tron-format/tron'),
    encode: value => TRON.stringify(value),
    decode: text => TRON.parse(text) as unknown,
  },
]

/**
 * The text of a peer, if its own decoder gives the value back; `null` if it does not, or if one of
 * both throws. The order of keys is not compared.
 */
function losslessText({ encode, decode }: Peer, value: unknown): string | null {
  try {
    const text = encode(value)
    return isDeepStrictEqual(decode(text), value) ? text : null
  } catch {
    return null
  }
}

/** The version of a package, which is pinned. */
function versionOf(name: string): string {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return { ...dependencies, ...devDependencies }[name]
}

/** A JSON text that formats are compared on. */
interface Document {
  readonly folder: string
  readonly name: string
  readonly text: string
}

/** Shorter results of sessions are left out: no format can save much of them. */
const SHORTEST_RESULT = 100
/** A peer is smaller if it saves more than both. */
const FEWEST_TOKENS = 3
const LEAST_SHARE = 0.005

/** The JSON payloads of a corpus, and the JSON results of its sessions. */
export function readDocuments(
  corpus: string,
  results: readonly RecordedResult[],
): readonly Document[] {
  const payloads = [...jsonPayloads(corpus)].flatMap(([folder, files]) =>
    Array.from(files, ([name, text]) => ({ folder, name, text })),
  )
  const sessions = results
    .filter(({ session, text }) => {
      return session !== undefined && text.length >= SHORTEST_RESULT && isContainer(text)
    })
    .map(({ tool, text }, i) => ({ folder: 'sessions', name: `${tool} ${i}`, text }))
  return [...payloads, ...sessions]
}

interface Row {
  readonly folder: string
  readonly name: string
  readonly compact: number
  readonly ours: number
  readonly format: string
  /** Whether ours takes more than compact JSON, in either tokenizer. */
  readonly above: boolean
  /** Tokens of each peer; `null` if its decoder does not give the value back. */
  readonly peers: readonly (number | null)[]
  /** The smallest of these. */
  readonly best: { readonly tokens: number; readonly peer: string }
}

const tokensOf = (content: string, tokenizer = 'o200k_base') =>
  count({ content, tokenizer }).tokens ?? 0

/** @throws {Error} if our own answer does not come back */
function measure({ folder, name, text }: Document): Row {
  // The compact text keeps spellings of numbers and duplicate keys, which the built-in writer does
  // not.
  const compactText = decode({ content: text, format: 'json_compact@1' }).content
  const compact = tokensOf(compactText)
  const { content, format, tokens } = encode({ content: text })
  if (format !== 'passthrough' && decode({ content, format }).content !== compactText) {
    throw new Error(`${folder}/${name} does not come back`)
  }
  const ours = tokens.final
  const other = encode({ content: text, tokenizer: 'cl100k_base' }).tokens.final
  const above = ours > compact || other > tokensOf(compactText, 'cl100k_base')
  const value: unknown = JSON.parse(text)
  const peers = PEERS.map(peer => {
    const written = losslessText(peer, value)
    return written === null ? null : tokensOf(written)
  })
  const known = peers.map((each, i) => ({ tokens: each ?? compact, peer: PEERS[i]!.name }))
  const best = known.reduce((least, each) => (each.tokens < least.tokens ? each : least))
  return { folder, name, compact, ours, format, above, peers, best }
}

function isSmaller(tokens: number, ours: number): boolean {
  return ours - tokens > Math.max(FEWEST_TOKENS, ours * LEAST_SHARE)
}

/** Our answers beside other formats, of all documents and by folder; where another is smaller. */
export function documentTables(documents: readonly Document[]): { above: number; text: string } {
  const rows = documents.map(measure)
  const smaller = rows.filter(({ best, ours }) => isSmaller(best.tokens, ours))
  const above = rows.filter(row => row.above).length
  const text = [
    totalsTable(rows),
    foldersTable(rows),
    `Above their compact JSON, in o200k_base or cl100k_base: ${above} of ${rows.length}.`,
    `A peer is smaller by more than 3 tokens and 0.5 % on ${smaller.length}:`,
    markdownTable(
      ['document', 'ours', 'format', 'best peer', 'tokens'],
      smaller.map(({ folder, name, ours, format, best }) => {
        return [`${folder} ${name}`, ours, format, best.peer, best.tokens]
      }),
    ),
  ].join('\n\n')
  return { above, text }
}

function totalsTable(rows: readonly Row[]): string {
  const line = (name: string, some: readonly Row[], of: (row: Row) => number) => [
    name,
    sum(some, of),
    some.length,
    sum(some, ({ ours }) => ours),
    some.filter(row => isSmaller(of(row), row.ours)).length,
  ]
  return markdownTable(
    ['format', 'tokens', 'documents decoded', 'ours on these', 'smaller than ours on'],
    [
      line('compact JSON', rows, ({ compact }) => compact),
      ...PEERS.map(({ name, version }, i) => {
        const decoded = rows.filter(({ peers }) => peers[i] !== null)
        return line(`${name} ${version}`, decoded, ({ peers }) => peers[i]!)
      }),
      line('the best of these for each document', rows, ({ best, compact }) =>
        Math.min(best.tokens, compact),
      ),
      line('ours', rows, ({ ours }) => ours),
    ],
  )
}

function foldersTable(rows: readonly Row[]): string {
  return markdownTable(
    ['documents of', 'number', 'compact JSON', ...PEERS.map(({ name }) => name), 'ours', 'saved'],
    [...Map.groupBy(rows, ({ folder }) => folder)].map(([folder, own]) => {
      const peers = PEERS.map((_, i) => sum(own, row => row.peers[i] ?? row.compact))
      const [compact, ours] = [sum(own, row => row.compact), sum(own, row => row.ours)]
      const saved = `${(100 * (1 - ours / compact)).toFixed(1)} %`
      return [folder, own.length, compact, ...peers, ours, saved]
    }),
  )
}

function sum(rows: readonly Row[], of: (row: Row) => number): number {
  return rows.reduce((total, row) => total + of(row), 0)
}
