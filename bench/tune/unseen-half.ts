import { splitByHash } from '../../src/tune/guard/halves.ts'
import type { MarkerBill } from '../../src/tune/guard/outcome.ts'
import type { Conversation } from '../../src/tune/play/conversation.ts'

/** Share of a needed result's text that is fetched. */
export const SHARES = [1, 0.5, 0.2]
const MILLION = 1e6

/** What markers win on the halves that a choice has not seen, in means over all splits. */
export interface Unseen {
  /** The share that is fetched, all markers, those that stay, and their ratio. */
  readonly cells: readonly string[]
  /** Splits in which those that stay win more than all, and less. */
  readonly better: number
  readonly worse: number
}

interface Splits {
  readonly share: number
  readonly splits: number
}

/** @param choose by one half of the conversations, which markers stay in the other */
export function netOnUnseen(
  conversations: readonly Conversation[],
  markers: ReadonlyMap<Conversation, readonly MarkerBill[]>,
  { share, splits }: Splits,
  choose: (chosen: readonly Conversation[]) => (marker: MarkerBill) => boolean,
): Unseen {
  const nets = Array.from({ length: splits }, (_, split) => {
    const { chosen, unseen } = splitByHash(conversations, `split ${split}`)
    const all = unseen.flatMap(each => markers.get(each) ?? [])
    return { all: netOf(all), kept: netOf(all.filter(choose(chosen))) }
  })
  const mean = (of: 'all' | 'kept') => nets.reduce((sum, each) => sum + each[of], 0) / splits
  const [all, kept] = [mean('all'), mean('kept')]
  return {
    cells: [
      `${100 * share} %`,
      `${(all / MILLION).toFixed(2)} M`,
      `${(kept / MILLION).toFixed(2)} M`,
      `${(kept / all).toFixed(2)}×`,
    ],
    better: nets.filter(each => each.kept > each.all).length,
    worse: nets.filter(each => each.kept < each.all).length,
  }
}

function netOf(markers: readonly MarkerBill[]): number {
  return markers.reduce((sum, { value, fetching }) => sum + value - fetching, 0)
}
