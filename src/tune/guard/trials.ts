import type { TokenPrices } from '../../core/conversation/usage/billing.ts'
import type { Conversation } from '../play/conversation.ts'
import type { Proposal } from '../rules/proposal.ts'
import { entryOf } from '../study/counts.ts'
import { type Cost, costOf, type FetchModel, type Outcome } from './outcome.ts'
import type { Plays } from './plays.ts'

/** What conversations are billed, with and without proposals. */
export interface Trials {
  base(conversation: Conversation): Cost
  cost(conversation: Conversation, proposals: readonly Proposal[]): Cost
  /** Billed tokens that the proposals save of it. */
  gain(conversation: Conversation, proposals: readonly Proposal[]): number
}

export interface BillTerms {
  readonly prices: TokenPrices
  readonly fetching: FetchModel
}

export function createTrials(plays: Plays, { prices, fetching }: BillTerms): Trials {
  const costs = new Map<Outcome, Cost>()

  function cost(conversation: Conversation, proposals: readonly Proposal[] = []): Cost {
    const outcome = plays.outcome(conversation, proposals)
    return entryOf(costs, outcome, () => costOf(conversation, outcome, fetching, prices))
  }

  return {
    base: conversation => cost(conversation),
    cost,
    gain: (conversation, proposals) =>
      cost(conversation).total - cost(conversation, proposals).total,
  }
}
