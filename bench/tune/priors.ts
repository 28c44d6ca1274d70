import { splitByHash } from '../../src/tune/guard/halves.ts'
import type { MarkerBill } from '../../src/tune/guard/outcome.ts'
import type { Plays } from '../../src/tune/guard/plays.ts'
import type { Conversation } from '../../src/tune/play/conversation.ts'
import { comesBackTooOften } from '../../src/tune/rules/prior-rules.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { markersBy } from './recorded.ts'

/** Share of a needed result's text that is fetched. */
const SHARES = [1, 0.5, 0.2]
const MILLION = 1e6

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
    const nets = Array.from({ length: splits }, (_, split) => {
      const { chosen, unseen } = splitByHash(conversations, `split ${split}`)
      const off = classesOff(
        chosen.flatMap(each => markers.get(each) ?? []),
        share,
      )
      const ofUnseen = unseen.flatMap(each => markers.get(each) ?? [])
      const kept = ofUnseen.filter(each => !off.has(each.class))
      return { all: netOf(ofUnseen), prior: netOf(kept), isOff: off.size > 0 }
    })
    const mean = (of: 'all' | 'prior') => nets.reduce((sum, each) => sum + each[of], 0) / splits
    const better = nets.filter(({ all, prior }) => prior > all).length
    const worse = nets.filter(({ all, prior }) => prior < all).length
    return [
      `${100 * share} %`,
      `${(mean('all') / MILLION).toFixed(2)} M`,
      `${(mean('prior') / MILLION).toFixed(2)} M`,
      `${(mean('prior') / mean('all')).toFixed(2)}×`,
      `${nets.filter(({ isOff }) => isOff).length}, ${better}, ${worse}`,
    ]
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

function netOf(markers: readonly MarkerBill[]): number {
  return markers.reduce((sum, { value, fetching }) => sum + value - fetching, 0)
}
