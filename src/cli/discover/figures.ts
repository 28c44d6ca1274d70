import { builtInPrices } from '../../config/prices.ts'
import { costOf, pricesFor, vendorOf } from '../../core/conversation/usage/billing.ts'
import type { TokenUsage } from '../../core/conversation/usage/token-usage.ts'
import { type Encoded, type Estimate, estimateChange } from '../../lab/discover/estimate.ts'
import type { KnownLog } from './known-logs.ts'

/** A tool, with the tokens of its results and the change that the encoded ones had. */
export interface ToolFigures {
  readonly tool: string
  readonly results: number
  readonly tokens: number
  readonly change: number | null
}

export interface DiscoverFigures {
  readonly logs: number
  readonly sessions: number
  readonly results: number
  /** Tokens of all results; an estimate unless all are encoded. `null`: none was encoded. */
  readonly tokens: number | null
  readonly answers: number
  /** What the answers cost, of the models whose prices are known; `null` if none is. */
  readonly cost: number | null
  readonly unpriced: readonly string[]
  readonly change: Estimate | null
  readonly encoded_logs: number
  readonly tools: readonly ToolFigures[]
}

interface ToolSums {
  results: number
  bytes: number
  known: number
  before: number
  after: number
}

const MILLION = 1_000_000

/**
 * What the logs say since a day, each answer and each result once, however many logs have it.
 */
export function figuresOf(logs: readonly KnownLog[], sinceDay: number): DiscoverFigures {
  const seen = new Set<number>()
  const sessions = new Set<string>()
  const tools = new Map<string, ToolSums>()
  const sample: Encoded[] = []
  const bill = createBill()
  let [results, bytes, known] = [0, 0, 0]
  // A log without times has the day 0: it is as old as its file, which was looked at before.
  const isOld = (day: number) => day !== 0 && day < sinceDay
  for (const { summary, encoded } of logs) {
    if (summary === null) continue
    const own = { bytes: 0, known: 0, before: 0, after: 0, results: 0 }
    for (const [place, [id, day, tool, size]] of summary.results.entries()) {
      if (isOld(day) || (id !== 0 && seen.has(id))) continue
      seen.add(id)
      const [before, after] = encoded?.tokens[place] ?? [0, 0]
      const isKnown = encoded !== null && place < encoded.tokens.length
      const name = summary.tools[tool] ?? ''
      const sums = tools.get(name) ?? { results: 0, bytes: 0, known: 0, before: 0, after: 0 }
      tools.set(name, sums)
      for (const each of [own, sums]) {
        each.results++
        each.bytes += size
        each.known += isKnown ? size : 0
        each.before += before
        each.after += after
      }
    }
    for (const [id, day, model, ...kinds] of summary.answers) {
      if (isOld(day) || seen.has(id)) continue
      seen.add(id)
      bill.add(summary.models[model] ?? '', kinds)
    }
    if (own.results > 0) for (const session of summary.sessions) sessions.add(session)
    results += own.results
    bytes += own.bytes
    known += own.known
    // A long log was encoded in part, which represents all of it.
    const scale = own.known === 0 ? 0 : own.bytes / own.known
    if (scale > 0) sample.push({ before: own.before * scale, after: own.after * scale })
  }
  const before = [...tools.values()].reduce((sum, each) => sum + each.before, 0)
  const perByte = known === 0 ? null : before / known
  return {
    logs: logs.length,
    sessions: sessions.size,
    results,
    tokens: perByte === null ? null : Math.round(bytes * perByte),
    ...bill.sums(),
    change: estimateChange(sample, bytes === 0 ? 1 : known / bytes),
    encoded_logs: sample.length,
    tools: [...tools]
      .map(([tool, each]) => ({
        tool,
        results: each.results,
        tokens: Math.round(
          each.known === 0 ? each.bytes * (perByte ?? 0) : (each.bytes * each.before) / each.known,
        ),
        change: each.before === 0 ? null : (each.after - each.before) / each.before,
      }))
      .sort((a, b) => b.tokens - a.tokens),
  }
}

/** Sums what answers cost, at the published prices. */
function createBill() {
  let answers = 0
  let cost: number | null = null
  const unpriced = new Set<string>()
  return {
    add(model: string, kinds: readonly number[]): void {
      answers++
      const [uncached = 0, cache_read = 0, cache_write = 0, cache_write_long = 0, output = 0] =
        kinds
      const usage: TokenUsage = { uncached, cache_read, cache_write, cache_write_long, output }
      const prices = pricesFor(vendorOf(model), model, [builtInPrices()])
      if (prices.per_million === undefined) unpriced.add(model || '(no model)')
      else cost = (cost ?? 0) + (costOf(usage, prices) * prices.per_million) / MILLION
    },
    sums: () => ({ answers, cost, unpriced: [...unpriced].sort() }),
  }
}
