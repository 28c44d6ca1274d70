import { encode as encodeToon } from '@toon-format/toon'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Encoding } from '../../src/core/tokens/profiles.ts'
import { encode } from '../../src/index.ts'
import { markdownTable } from '../support/markdown-table.ts'

/** A notation that is none of ours, against what is sent. */
export interface Candidate {
  readonly name: string
  /** JSON results that it can say, with its tokens and ours. */
  results: number
  tokens: number
  ours: number
  /** Results that it would be sent for, and the tokens it would save there. */
  won: number
  saved: number
}

type Writer = (data: unknown) => string | null

const WRITERS: Readonly<Record<string, Writer>> = {
  'TOON 4.4.0': encodeToon,
  'Markdown table, of rows of scalars': toMarkdown,
}

/** What notations of others would be worth over the results that are JSON objects or arrays. */
export function measureCandidates(
  texts: readonly string[],
  encoding: Encoding,
  counter: TokenCounter,
): readonly Candidate[] {
  const sums = Object.keys(WRITERS).map(zero)
  for (const content of texts) {
    const data = parse(content)
    if (typeof data !== 'object' || data === null) continue
    const ours = encode({ content, tokenizer: encoding }).tokens.final
    for (const sum of sums) {
      const written = WRITERS[sum.name]?.(data) ?? null
      if (written === null) continue
      const tokens = counter.count(written)
      sum.results++
      sum.tokens += tokens
      sum.ours += ours
      if (tokens >= ours) continue
      sum.won++
      sum.saved += ours - tokens
    }
  }
  return sums
}

function zero(name: string): Candidate {
  return { name, results: 0, tokens: 0, ours: 0, won: 0, saved: 0 }
}

/** Rows of scalars, all with the same keys; other values have no place in such a table. */
function toMarkdown(data: unknown): string | null {
  if (!Array.isArray(data) || data.length === 0) return null
  const header = Object.keys((data[0] as object | null) ?? {})
  const rows = data.map(row => {
    const isRow = typeof row === 'object' && row !== null && !Array.isArray(row)
    const cells = isRow ? Object.values(row) : [{}]
    const isFlat = cells.every(cell => typeof cell !== 'object' || cell === null)
    if (!isFlat || String(Object.keys(row)) !== String(header)) return null
    return cells.map(cell => String(cell).replaceAll('|', '\\|').replaceAll('\n', '<br>'))
  })
  return header.length > 0 && rows.every(row => row !== null) ? markdownTable(header, rows) : null
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
