import { percent } from '../../src/console/table.ts'
import { hintLine } from '../../src/core/hints/hint-line.ts'
import { chooseLossless } from '../../src/core/pipeline/gate.ts'
import { layersFor } from '../../src/core/pipeline/layers.ts'
import { NO_NOTES } from '../../src/core/pipeline/notes.ts'
import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/default-pipeline.ts'
import { resolveProfile } from '../../src/core/pipeline/profile/resolve.ts'
import { readInput } from '../../src/core/pipeline/read-input.ts'
import { markerOf, withinBudget } from '../../src/core/pipeline/within-budget.ts'
import { type Document, documentOf } from '../../src/core/reduce/budget/document.ts'
import { fitDocument } from '../../src/core/reduce/budget/fit.ts'
import { totalValue } from '../../src/core/reduce/budget/plan.ts'
import type { PricedNode } from '../../src/core/reduce/budget/priced-node.ts'
import { STRATEGIES } from '../../src/core/reduce/budget/strategies.ts'
import { median } from '../../src/lab/bill/statistics.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { jsonPayloads } from '../support/corpus.ts'
import { tableOf } from '../support/markdown-table.ts'
import { mean } from '../support/statistics.ts'

/** Levels of containers that are looked into: an envelope, and the lists in it. */
const LEVELS = 2

/**
 * The same document for a knapsack with one format: items of the lists at the top are taken as they
 * are in compact JSON, or left.
 */
function binaryDocument(document: Document): Document {
  return { ...document, root: collapse(document.root, LEVELS) }
}

function collapse(node: PricedNode, levels: number): PricedNode {
  const { children, tableOwn: _, ...rest } = node
  if (children === undefined) {
    const { cuts: __, ...leaf } = rest
    return leaf
  }
  if (levels === 0) return { own: jsonTokens(node), key: node.key, value: totalValue(node) }
  return { ...rest, children: children.map(child => collapse(child, levels - 1)) }
}

/** Tokens that quotes, a colon and a comma add to each member or item, about. */
const PUNCTUATION = 2

/** Tokens in compact JSON, about; the text that is written is counted exactly. */
function jsonTokens({ own, key, children = [] }: PricedNode): number {
  const inner = children.reduce((sum, child) => sum + jsonTokens(child) + PUNCTUATION, 0)
  return own + key + inner
}

/** Budgets, as shares of the tokens of a payload in compact JSON. */
const SHARES = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8]
/** Smaller payloads need no budget. */
const LEAST_TOKENS = 500
const VALUATION = { strategy: STRATEGIES.equal, fields: new Map<string, number>() }
const ANY_HASH = '0a1b2c3d4e5f60718293a4b5'

const context = createLocalContext()
const counter = context.counters.get('o200k_base')
const profile = resolveProfile(DEFAULT_PIPELINE, {})
const layers = layersFor(profile)

interface Row {
  readonly share: number
  readonly ours: number
  readonly binary: number
  readonly filled: number
  readonly optimal: boolean
  readonly ms: number
}

function measure(content: string): Row[] {
  const input = readInput({ content }, context)
  const { prices } = input
  if (prices.baseline < LEAST_TOKENS) return []
  const compact = counter.count(JSON.stringify(JSON.parse(content)))
  const lossless = chooseLossless(input, layers, [])
  return SHARES.map(share => {
    const budget = Math.floor(compact * share)
    const document = documentOf(input, counter, VALUATION, budget)
    const all = totalValue(document.root)
    const started = performance.now()
    const fitted =
      lossless.tokens <= budget
        ? null
        : withinBudget(input, budget, {
            valuation: VALUATION,
            notes: NO_NOTES,
            writeMarker: marker => hintLine(marker, 'standard')!,
            choose: text => chooseLossless(readInput({ content: text }, context), layers, []),
          })
    const ms = performance.now() - started
    const binary = fitDocument(
      binaryDocument(document),
      budget,
      ({ content: pruned, omissions }) => {
        if (omissions.length === 0) return { tokens: Infinity }
        const marker = hintLine(markerOf(ANY_HASH, omissions, 0), 'standard')!
        return { tokens: counter.count(`${pruned}\n${marker}`) }
      },
    )
    const plan = fitted === null || 'minimum' in fitted ? null : fitted
    return {
      share,
      ours: fitted === null ? 1 : (plan?.plan.value ?? 0) / all,
      binary: 'minimum' in binary ? 0 : binary.plan.value / all,
      filled: plan === null ? Number.NaN : plan.tokens / budget,
      optimal: plan?.plan.optimal ?? true,
      ms,
    }
  })
}

/**
 * What is kept of JSON payloads within budgets: by the multiple-choice knapsack with all formats,
 * and by one that takes or leaves whole items in compact JSON. Both texts are counted exactly, their
 * markers too.
 */
export function budgets(corpus: string): string {
  const texts = [...jsonPayloads(corpus).values()].flatMap(files => [...files.values()])
  const rows = texts.flatMap(measure)
  const bySize = SHARES.map(share => {
    const own = rows.filter(row => row.share === share)
    const written = own.filter(({ filled }) => !Number.isNaN(filled))
    return {
      share,
      payloads: own.length,
      ours: mean(own.map(row => row.ours)),
      binary: mean(own.map(row => row.binary)),
      worse: own.filter(row => row.ours < row.binary - 1e-9).length,
      filled: median(written.map(row => row.filled)),
      optimal: written.filter(row => row.optimal).length,
      written: written.length,
      ms: median(written.map(row => row.ms)),
    }
  })
  return tableOf(
    bySize.map(row => ({
      ...{ budget: `${row.share * 100} %`, payloads: row.payloads },
      ...{ 'worth kept': percent(row.ours), 'binary, one format': percent(row.binary) },
      ...{ 'binary keeps more': row.worse, 'filled (median)': percent(row.filled) },
      'plans proven best': `${row.optimal}/${row.written}`,
      'ms (median)': row.ms.toFixed(1),
    })),
  )
}
