import { writeFileSync } from 'node:fs'
import { median } from '../../src/bill/statistics.ts'
import { renderHint } from '../../src/core/hints/hint-line.ts'
import { chooseLossless } from '../../src/core/pipeline/gate.ts'
import { layersFor } from '../../src/core/pipeline/layers.ts'
import { NO_NOTES } from '../../src/core/pipeline/notes.ts'
import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../src/core/pipeline/profile/resolve.ts'
import { readInput } from '../../src/core/pipeline/read-input.ts'
import { markerOf, withinBudget } from '../../src/core/pipeline/within-budget.ts'
import { documentOf } from '../../src/core/reduce/budget/document.ts'
import { fitDocument } from '../../src/core/reduce/budget/fit.ts'
import { totalValue } from '../../src/core/reduce/budget/plan.ts'
import { STRATEGIES } from '../../src/core/reduce/budget/strategies.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { jsonPayloads } from '../support/corpus.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { mean } from '../support/statistics.ts'
import { binaryDocument } from './binary.ts'
import { linePlot } from './line-plot.ts'

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
            writeMarker: marker => renderHint(marker, 'standard'),
            choose: text => chooseLossless(readInput({ content: text }, context), layers, []),
          })
    const ms = performance.now() - started
    const binary = fitDocument(
      binaryDocument(document),
      budget,
      ({ content: pruned, omissions }) => {
        if (omissions.length === 0) return { tokens: Infinity }
        const marker = renderHint(markerOf(ANY_HASH, omissions, 0), 'standard')
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

const percent = (share: number) => `${(100 * share).toFixed(1)} %`
/**
 * What is kept of JSON payloads within budgets: by the multiple-choice knapsack with all formats,
 * and by one that takes or leaves whole items in compact JSON. Both texts are counted exactly, their
 * markers too.
 * @param svg a file for a plot of both; empty: none
 */
export function budgets(corpus: string, svg: string): string {
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
  if (svg !== '') {
    const curve = (name: string, color: string, key: 'ours' | 'binary') => ({
      name,
      color,
      points: bySize.map(row => [row.share, row[key]] as const),
    })
    const series = [
      curve('multiple choice', '#2563eb', 'ours'),
      curve('binary, one format', '#dc2626', 'binary'),
    ]
    const axis = { max: 0.8, format: percent }
    writeFileSync(svg, linePlot(series, axis, { max: 1, format: percent }))
  }
  const table = markdownTable(
    [
      'budget',
      'payloads',
      'worth kept',
      'binary, one format',
      'binary keeps more',
      'filled (median)',
      'plans proven best',
      'ms (median)',
    ],
    bySize.map(row => [
      `${row.share * 100} %`,
      row.payloads,
      percent(row.ours),
      percent(row.binary),
      row.worse,
      percent(row.filled),
      `${row.optimal}/${row.written}`,
      row.ms.toFixed(1),
    ]),
  )
  return table
}
