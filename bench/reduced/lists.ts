import { encode as encodeToon } from '@toon-format/toon'
import { AppError } from '../../src/core/base/errors.ts'
import { encodeContent } from '../../src/core/pipeline/encode-content.ts'
import type { Level } from '../../src/core/reduce/trim/levels.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { isContainer, recordedResults } from '../support/corpus.ts'
import { markdownTable } from '../support/markdown-table.ts'

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
