import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import type { Conversation } from '../play/conversation.ts'
import type { PlayOptions } from '../play/play.ts'
import type { Proposal } from '../rules/proposal.ts'
import { entryOf } from '../study/counts.ts'
import type { ConfigChange } from './changed-config.ts'
import { type Outcome, playOutcome } from './outcome.ts'

/** Plays conversations with and without proposals. Each is played once for the same proposals. */
export interface Plays {
  /** As the configuration has it now, or with proposals. */
  outcome(conversation: Conversation, proposals?: readonly Proposal[]): Outcome
  /** Conversations that were played so far. */
  readonly count: number
}

export interface PlayTerms extends Omit<PlayOptions, 'config'> {
  /** The configuration with these changes in the layer that `tune` writes. */
  configWith(changes: readonly ConfigChange[]): PipelineConfig
}

/**
 * A conversation is played again only if one of the proposals can touch it: then with all of them,
 * since one may touch what another one changed.
 */
export function createPlays(terms: PlayTerms): Plays {
  const numbers = new Map<Proposal, number>()
  const known = new Map<Conversation, Map<string, Outcome>>()
  const touched = new Map<Conversation, Map<Proposal, boolean>>()
  let count = 0

  function play(conversation: Conversation, proposals: readonly Proposal[]): Outcome {
    count++
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

  return {
    outcome,
    get count() {
      return count
    },
  }
}
