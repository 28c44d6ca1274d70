import type { TokenPrices } from '../../core/conversation/usage/billing.ts'
import type { Conversation } from '../play/conversation.ts'
import { needsOfPlayed } from '../play/needs.ts'
import { type PlayedResult, type PlayOptions, playConversation } from '../play/play.ts'
import { type BilledResult, billEach, type TurnBill } from './bill.ts'

/** A conversation as it was played, with what its agent would have fetched again. */
export interface Outcome {
  readonly played: readonly PlayedResult[]
  /** By place of a result whose hidden part is needed: the results until then. */
  readonly needs: ReadonlyMap<number, number>
}

export function playOutcome(conversation: Conversation, options: PlayOptions): Outcome {
  const played = playConversation(conversation, options)
  const found = options.elides ? needsOfPlayed(conversation.results, played) : []
  const needs = new Map(found.map(({ result, edit }) => [result, edit - result]))
  // What the agent sees is needed no longer, and is most of the memory.
  const light = played.map(({ shown, ...rest }) =>
    shown === undefined ? rest : { ...rest, shown: '' },
  )
  return { played: light, needs }
}

/** What is assumed about fetching what was left out. */
export interface FetchModel {
  /** Share of a result's text that is fetched if it is needed. */
  readonly share: number
}

/** What a conversation is billed, in uncached input tokens, and the same by class. */
export interface Cost {
  readonly total: number
  readonly byClass: ReadonlyMap<string, number>
}

export function costOf(
  conversation: Conversation,
  outcome: Outcome,
  fetching: FetchModel,
  prices: TokenPrices,
): Cost {
  let total = 0
  const byClass = new Map<string, number>()
  for (const [at, { after }] of bills(conversation, outcome, fetching, prices).entries()) {
    const name = conversation.results[at]!.class
    total += after
    byClass.set(name, (byClass.get(name) ?? 0) + after)
  }
  return { total, byClass }
}

/** A result of which parts were left out, and what that is worth. */
export interface MarkerBill {
  readonly class: string
  /** The id of its conversation. */
  readonly conversation: string
  /** Tokens that leaving out saved once, and those that are left. */
  readonly saved: number
  readonly left: number
  /** The same in the bill, and what fetching costs there. */
  readonly value: number
  readonly fetching: number
  readonly isNeeded: boolean
}

export function markersOf(
  conversation: Conversation,
  outcome: Outcome,
  fetching: FetchModel,
  prices: TokenPrices,
): readonly MarkerBill[] {
  const { id, results } = conversation
  const { played, needs } = outcome
  return bills(conversation, outcome, fetching, prices).flatMap((bill, at) => {
    const { shown, elided: saved, before, after: left } = played[at]!
    if (shown === undefined) return []
    // Each token of a result costs the same.
    const value = before === 0 ? 0 : (saved * bill.before) / before
    const of = { class: results[at]!.class, conversation: id }
    return [{ ...of, saved, left, value, fetching: bill.fetching, isNeeded: needs.has(at) }]
  })
}

function bills(
  { results }: Conversation,
  { played, needs }: Outcome,
  { share }: FetchModel,
  prices: TokenPrices,
): readonly TurnBill[] {
  const billed = results.map((result, at): BilledResult => {
    const { before, after, shown } = played[at]!
    // A sub-agent has a prompt of its own.
    const place = { session: `${result.agent ?? ''}`, epoch: result.epoch, before, after }
    const later = needs.get(at)
    if (shown === undefined || later === undefined) return { ...place, fetched: 0 }
    return { ...place, fetched: Math.ceil(before * share), fetchedAfter: later }
  })
  return billEach(billed, prices)
}
