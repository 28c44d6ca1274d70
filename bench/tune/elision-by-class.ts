import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/pipeline-config.ts'
import type { MarkerBill } from '../../src/tune/guard/outcome.ts'
import type { Plays } from '../../src/tune/guard/plays.ts'
import type { Conversation } from '../../src/tune/play/conversation.ts'
import { collectStats, type Seen } from '../../src/tune/rules/class-stats.ts'
import { proposeByRules } from '../../src/tune/rules/rules.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { markersBy, seenBy } from './recorded.ts'
import { netOnUnseen, SHARES } from './unseen-half.ts'

/**
 * Elision by class: R6 chooses by one half, and the other half pays. A marker's part of the bill is
 * what it saves less what fetching costs. Nothing is played again here, since a result that is not
 * elided is as it is without elision.
 */
export function elisionByClass(
  conversations: readonly Conversation[],
  plays: Plays,
  splits: number,
): string {
  const rows = SHARES.map(share => {
    const markers = markersBy(conversations, plays, share)
    const all = seenBy(conversations, plays, markers).map(withMarkersOnly)
    const total = collectStats(all)
    const { cells, better } = netOnUnseen(conversations, markers, { share, splits }, chosen => {
      const chosenSet = new Set(chosen)
      const stats = collectStats(all.filter(each => chosenSet.has(each.of)))
      const terms = { config: DEFAULT_PIPELINE, stats, all: total, isProxied: true }
      const limits = limitsByClass(terms)
      return each => limits.get(each.class)?.(each) ?? true
    })
    return [...cells, `${better} of ${splits}`]
  })
  const head = ['fetched of a needed text', 'all classes on', 'tuned by class', 'ratio', 'better']
  return markdownTable(head, rows)
}

/** R6 reads nothing of other results. */
function withMarkersOnly({
  conversation,
  played,
  markers,
}: Seen): Seen & { readonly of: Conversation } {
  const isElided = (_: unknown, at: number) => played[at]!.shown !== undefined
  const results = conversation.results.filter(isElided)
  return {
    ...{ conversation: { ...conversation, results }, of: conversation, markers },
    played: played.filter(({ shown }) => shown !== undefined),
  }
}

/** By class that R6 changes, which markers stay. */
function limitsByClass(
  terms: Parameters<typeof proposeByRules>[0],
): ReadonlyMap<string, (marker: MarkerBill) => boolean> {
  const found = new Map<string, (marker: MarkerBill) => boolean>()
  for (const { rule, key, to, isTooFew } of proposeByRules(terms)) {
    if (rule !== 'R6' || isTooFew) continue
    const [, name, setting] = key
    const bound = Number(to)
    found.set(name!, ({ saved, left }) => {
      if (setting === 'elision_min_saved_tokens') return saved >= bound
      return setting === 'max_ratio' && left / (left + saved) <= bound
    })
  }
  return found
}

/** Markers by class, with those that are needed. */
export function needsByClass(conversations: readonly Conversation[], plays: Plays): string {
  const markers = markersBy(conversations, plays, 1)
  const rows = new Map<string, { markers: number; needed: number; saved: number; net: number }>()
  for (const each of [...markers.values()].flat()) {
    const row = rows.get(each.class) ?? { markers: 0, needed: 0, saved: 0, net: 0 }
    rows.set(each.class, row)
    row.markers++
    row.saved += each.saved
    row.net += each.value - each.fetching
    if (each.isNeeded) row.needed++
  }
  const sorted = [...rows].sort(([, a], [, b]) => b.markers - a.markers).slice(0, 12)
  return markdownTable(
    ['class', 'markers', 'needed', 'tokens saved', 'net, billed'],
    sorted.map(([name, { markers, needed, saved, net }]) => [
      ...[name, markers, needed, saved, Math.round(net)],
    ]),
  )
}
