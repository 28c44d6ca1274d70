import type { TokenPrices } from '../../core/conversation/usage/billing.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { entryOf } from '../entry-of.ts'
import type { Conversation } from '../play/conversation.ts'
import type { PlayOptions } from '../play/play.ts'
import type { Proposal } from '../rules/proposal.ts'
import { type Cost, costOf, type FetchModel, type Outcome, playOutcome } from './outcome.ts'

/** What conversations are billed, with and without proposals. */
export interface Trials {
  base(conversation: Conversation): Cost
  cost(conversation: Conversation, proposals: readonly Proposal[]): Cost
  /** Billed tokens that the proposals save of it. */
  gain(conversation: Conversation, proposals: readonly Proposal[]): number
}

/** Plays conversations with and without proposals. Each is played once for the same proposals. */
export interface Plays extends Trials {
  /** As the configuration has it now, or with proposals. */
  outcome(conversation: Conversation, proposals?: readonly Proposal[]): Outcome
}

export interface PlayTerms extends Omit<PlayOptions, 'config'> {
  readonly prices: TokenPrices
  readonly fetching: FetchModel
  /** The configuration with these changes in the layer that `tune` writes. */
  configWith(changes: readonly Pick<Proposal, 'key' | 'to'>[]): PipelineConfig
}

/**
 * A conversation is played again only if one of the proposals can touch it: then with all of them,
 * since one may touch what another one changed.
 */
export function createPlays(terms: PlayTerms): Plays {
  const numbers = new Map<Proposal, number>()
  const known = new Map<Conversation, Map<string, Outcome>>()
  const costs = new Map<Outcome, Cost>()
  const touched = new Map<Conversation, Map<Proposal, boolean>>()

  function play(conversation: Conversation, proposals: readonly Proposal[]): Outcome {
    const config = terms.configWith(proposals)
    return playOutcome(conversation, { ...terms, config })
  }

  function outcome(conversation: Conversation, proposals: readonly Proposal[] = []): Outcome {
    const isTouched = proposals.some(each => canTouch(conversation, each))
    const names = isTouched ? proposals.map(each => entryOf(numbers, each, () => numbers.size)) : []
    const key = names.sort((a, b) => a - b).join()
    const outcomes = entryOf(known, conversation, () => new Map<string, Outcome>())
    return entryOf(outcomes, key, () => play(conversation, isTouched ? proposals : []))
  }

  function canTouch(conversation: Conversation, proposal: Proposal): boolean {
    const known = entryOf(touched, conversation, () => new Map<Proposal, boolean>())
    return entryOf(known, proposal, () =>
      proposal.touches(conversation.results, outcome(conversation).played),
    )
  }

  function cost(conversation: Conversation, proposals: readonly Proposal[] = []): Cost {
    const played = outcome(conversation, proposals)
    return entryOf(costs, played, () => costOf(conversation, played, terms.fetching, terms.prices))
  }

  return {
    outcome,
    base: conversation => cost(conversation),
    cost,
    gain: (conversation, proposals) =>
      cost(conversation).total - cost(conversation, proposals).total,
  }
}
