import { rankText } from '../../src/core/reduce/elide/text-reducers.ts'
import type { Plays } from '../../src/tune/guard/plays.ts'
import type { Conversation } from '../../src/tune/play/conversation.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { markersBy } from './recorded.ts'

/** Share of a needed result's text that is fetched. */
const SHARES = [1, 0.5, 0.2]
/** Kinds of texts that are source code. */
const CODE: ReadonlySet<string | undefined> = new Set(['braces', 'indents'])
const LEAST_MARKERS = 20

/**
 * Whether leaving out parts of source code loses for everybody: by class and by what is fetched,
 * how many conversations lose, and the net of all.
 */
export function codeReads(conversations: readonly Conversation[], plays: Plays): string {
  const rows = SHARES.flatMap(share => {
    const markers = markersBy(conversations, plays, share)
    const classes = new Map<string, { markers: number; nets: Map<Conversation, number> }>()
    for (const conversation of conversations) {
      const { played } = plays.outcome(conversation)
      const elided = conversation.results.filter((_, at) => played[at]!.shown !== undefined)
      for (const [at, marker] of (markers.get(conversation) ?? []).entries()) {
        if (!CODE.has(rankText(elided[at]!.text)?.kind)) continue
        const row = classes.get(marker.class) ?? { markers: 0, nets: new Map() }
        classes.set(marker.class, row)
        row.markers++
        const net = (row.nets.get(conversation) ?? 0) + marker.value - marker.fetching
        row.nets.set(conversation, net)
      }
    }
    return [...classes]
      .filter(([, each]) => each.markers >= LEAST_MARKERS)
      .map(([name, { markers: count, nets }]) => {
        const all = [...nets.values()]
        const net = all.reduce((sum, each) => sum + each, 0)
        const losing = all.filter(each => each < 0).length
        return [`${100 * share} %`, name, count, all.length, losing, Math.round(net)]
      })
  })
  const head = ['fetched', 'class', 'markers', 'conversations', 'of them lose', 'net, billed']
  return markdownTable(head, rows)
}
