import { classify } from '../../core/classify/classify.ts'
import { parseJson } from '../../core/json/parse-json.ts'
import { createRepeats } from '../../core/telemetry/repeats.ts'

import { entryOf } from '../entry-of.ts'
import type { MarkerBill, Outcome } from '../guard/plays.ts'
import type { RecordedResult } from '../play/conversation.ts'
import type { PlayedResult } from '../play/play.ts'

/** What the results of an endpoint class have in common. */
export interface ClassStats {
  readonly name: string
  /** One of them, by which its settings are found. */
  readonly example: RecordedResult
  results: number
  /** Replaced by a reference to the same result, to a nearly equal one, or to lines of others. */
  exact: number
  near: number
  lines: number
  /** Different results since the same one, of those that came again. */
  readonly bursts: number[]
  readonly shapes: Map<PlayedResult['shape'], number>
  /** Columns of its Markdown tables. */
  readonly columns: number[]
  readonly innerFormats: Map<string, number>
  hints: number
  readonly markers: MarkerBill[]
}

/** How a conversation went, or all of them. */
interface SessionCounts {
  results: number
  compactions: number
  /** Calls that only read. */
  reads: number
}

/** What all results have in common. */
interface SessionStats extends SessionCounts {
  conversations: number
  /** Each conversation, in the order of their last results. */
  recent: readonly SessionCounts[]
  /** By the model that made the call, as the log names it. */
  readonly models: Map<string, number>
  /** UTF-8 bytes, and levels of nested objects. */
  readonly bytes: number[]
  readonly depths: number[]
}

export interface Stats {
  readonly classes: ReadonlyMap<string, ClassStats>
  readonly sessions: SessionStats
}

/** What rules read of conversations. */
export function collectStats(all: Iterable<Omit<Outcome, 'cost'>>): Stats {
  const classes = new Map<string, ClassStats>()
  const [models, bytes, depths] = [new Map<string, number>(), [] as number[], [] as number[]]
  const sums = { conversations: 0, results: 0, compactions: 0, reads: 0 }
  const sessions: SessionStats = { ...sums, recent: [], models, bytes, depths }
  const each: (SessionCounts & { readonly lastMs: number })[] = []
  for (const { conversation, played, markers } of all) {
    const { results, lastMs = 0 } = conversation
    const compactions = results.reduce((most, { epoch }) => Math.max(most, epoch), 0)
    const reads = results.filter(result => READS.has(result.class.toLowerCase())).length
    each.push({ lastMs, results: results.length, reads, compactions })
    sessions.conversations++
    sessions.compactions += compactions
    sessions.reads += reads
    const repeats = createRepeats()
    for (const [at, result] of results.entries()) {
      const own = entryOf(classes, result.class, () => noStats(result))
      addResult(own, result, played[at]!)
      addSession(sessions, result, played[at]!)
      if (result.agent !== undefined) continue
      const burst = repeats.next(result.text, result.epoch)
      if (burst !== undefined) own.bursts.push(burst)
    }
    for (const marker of markers) classes.get(marker.class)?.markers.push(marker)
  }
  sessions.recent = each.sort((a, b) => a.lastMs - b.lastMs)
  return { classes, sessions }
}

function noStats(example: RecordedResult): ClassStats {
  return {
    name: example.class,
    example,
    results: 0,
    exact: 0,
    near: 0,
    lines: 0,
    hints: 0,
    bursts: [],
    shapes: new Map(),
    columns: [],
    innerFormats: new Map(),
    markers: [],
  }
}

function addResult(own: ClassStats, { text }: RecordedResult, played: PlayedResult): void {
  const { format, layer, shape, innerFormats, hints } = played
  own.results++
  own.hints += hints
  if (layer === 'L0') {
    if (/\bref@/.test(format)) own.exact++
    else if (/\b(?:changes|near)@/.test(format)) own.near++
    else own.lines++
  }
  own.shapes.set(shape, (own.shapes.get(shape) ?? 0) + 1)
  for (const each of innerFormats) {
    own.innerFormats.set(each, (own.innerFormats.get(each) ?? 0) + 1)
  }
  if (shape === 'markdown_table') own.columns.push(classify(text, undefined).n_cols ?? 0)
}

/**
 * Tools and endpoint classes that look at files or pages, in lower case (SOURCES.md#formats, P2).
 */
const READS: ReadonlySet<string> = new Set(
  'read glob grep notebookread webfetch websearch cat head tail sed rg ls find tree'.split(' '),
)

function addSession(
  sessions: SessionStats,
  { text, model }: RecordedResult,
  { shape }: PlayedResult,
) {
  sessions.results++
  if (model !== undefined) sessions.models.set(model, (sessions.models.get(model) ?? 0) + 1)
  sessions.bytes.push(Buffer.byteLength(text))
  if (shape !== 'nested_object') return
  const parsed = parseJson(text)
  if (parsed.ok) sessions.depths.push(classify(text, parsed.value).depth ?? 0)
}

/** The value that so large a share of them does not exceed; 0 of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
