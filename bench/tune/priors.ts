import type { MarkerBill } from '../../src/tune/guard/outcome.ts'
import type { Plays } from '../../src/tune/guard/plays.ts'
import type { Conversation } from '../../src/tune/play/conversation.ts'
import { comesBackTooOften } from '../../src/tune/rules/prior-rules.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { markersBy } from './recorded.ts'
import { netOnUnseen, SHARES } from './unseen-half.ts'

/**
 * R6 before there are own results: half of the sessions are a team's, whose figures switch elision
 * of classes off, and the other half is of members that have none.
 */
export function priorElision(
  conversations: readonly Conversation[],
  plays: Plays,
  splits: number,
): string {
  const rows = SHARES.map(share => {
    const markers = markersBy(conversations, plays, share)
    let withOff = 0
    const { cells, better, worse } = netOnUnseen(
      conversations,
      markers,
      { share, splits },
      chosen => {
        const off = classesOff(
          chosen.flatMap(each => markers.get(each) ?? []),
          share,
        )
        if (off.size > 0) withOff++
        return each => !off.has(each.class)
      },
    )
    return [...cells, `${withOff}, ${better}, ${worse}`]
  })
  const head = ['fetched of a needed text', 'all classes on', 'by figures of others', 'ratio']
  return markdownTable([...head, 'splits with a class off, better, worse'], rows)
}

function classesOff(markers: readonly MarkerBill[], share: number): ReadonlySet<string> {
  const byClass = Map.groupBy(markers, each => each.class)
  const isOff = ([, own]: readonly [string, readonly MarkerBill[]]) =>
    comesBackTooOften(own.length, own.filter(each => each.isNeeded).length, share)
  return new Set([...byClass].filter(isOff).map(([name]) => name))
}
