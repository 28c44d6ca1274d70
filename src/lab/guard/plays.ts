import { findNeeds, type Need } from '../../core/conversation/needs/find-needs.ts'
import type { TokenPrices } from '../../core/conversation/usage/billing.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { entryOf } from '../entry-of.ts'
import type { Conversation, RecordedResult } from '../play/conversation.ts'
import { type PlayedResult, type PlayOptions, playConversation } from '../play/play.ts'
import type { Proposal } from '../rules/proposal.ts'
import { billEach, type TurnBill } from './bill.ts'

/** What a conversation is billed, in uncached input tokens, and the same by class. */
export interface Cost {
  readonly total: number
  readonly byClass: ReadonlyMap<string, number>
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

/** A conversation as it was played, with what its agent would have fetched again. */
export interface Outcome {
  readonly conversation: Conversation
  readonly played: readonly PlayedResult[]
  readonly markers: readonly MarkerBill[]
  readonly cost: Cost
}

export interface PlayTerms extends Omit<PlayOptions, 'config'> {
  readonly prices: TokenPrices
  /** Share of a needed result's text that is fetched. */
  readonly fetched: number
  /** The configuration with these changes in the layer that `tune` writes. */
  configWith(changes: readonly Pick<Proposal, 'key' | 'to'>[]): PipelineConfig
}

/**
 * Plays conversations with and without proposals, each once for the same proposals. A conversation
 * is played again only if one of the proposals can touch it: then with all of them, since one may
 * touch what another one changed.
 */
export class Plays {
  readonly #terms: PlayTerms
  readonly #known = new Map<Conversation, Map<string, Outcome>>()

  constructor(terms: PlayTerms) {
    this.#terms = terms
  }

  outcome(conversation: Conversation, proposals: readonly Proposal[] = []): Outcome {
    const { results } = conversation
    const isTouched = proposals.some(each =>
      each.touches(results, this.outcome(conversation).played),
    )
    const changes = isTouched ? proposals : []
    const name = changes.map(({ key, to }) => JSON.stringify([key, to])).sort()
    const outcomes = entryOf(this.#known, conversation, () => new Map<string, Outcome>())
    return entryOf(outcomes, name.join(), () => {
      return playOutcome(conversation, this.#terms, this.#terms.configWith(changes))
    })
  }
}

function playOutcome(
  conversation: Conversation,
  { prices, fetched: share, ...terms }: PlayTerms,
  config: PipelineConfig,
): Outcome {
  const { id, results } = conversation
  const played = playConversation(conversation, { ...terms, config })
  const found = terms.elides ? needsOfPlayed(results, played) : []
  const needs = new Map(found.map(({ result, edit }) => [result, edit - result]))
  const bills = billEach(
    results.map(({ agent = '', epoch }, at) => {
      const { before, after } = played[at]!
      const fetchedAfter = needs.get(at)
      const fetched = fetchedAfter === undefined ? 0 : Math.ceil(before * share)
      // A sub-agent has a prompt of its own.
      return { session: agent, epoch, before, after, fetched, fetchedAfter }
    }),
    prices,
  )
  return {
    conversation,
    // What the agent sees is needed no longer, and is most of the memory.
    played: played.map(each => (each.shown === undefined ? each : { ...each, shown: '' })),
    markers: results.flatMap((result, at): MarkerBill[] => {
      const { shown, elided: saved, before, after: left } = played[at]!
      if (shown === undefined) return []
      // Each token of a result costs the same.
      const value = before === 0 ? 0 : (saved * bills[at]!.before) / before
      const of = { class: result.class, conversation: id, isNeeded: needs.has(at) }
      return [{ ...of, saved, left, value, fetching: bills[at]!.fetching }]
    }),
    cost: costOf(results, bills),
  }
}

function costOf(results: readonly RecordedResult[], bills: readonly TurnBill[]): Cost {
  let total = 0
  const byClass = new Map<string, number>()
  for (const [at, { class: name }] of results.entries()) {
    const { after } = bills[at]!
    total += after
    byClass.set(name, (byClass.get(name) ?? 0) + after)
  }
  return { total, byClass }
}

/** What would have been needed of recorded results. @param played the same, with parts left out */
export function needsOfPlayed(
  results: readonly RecordedResult[],
  played: readonly PlayedResult[],
): readonly Need[] {
  return findNeeds(
    results.map(({ agent, epoch, is_error: isError, args, text }, at) => ({
      context: JSON.stringify([agent, epoch]),
      isError,
      args: () => args,
      text: () => text,
      shown: () => played[at]?.shown,
    })),
  )
}
