import { DEFAULT_PRICES } from '../../src/core/conversation/usage/billing.ts'
import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { changedConfig } from '../../src/tune/guard/changed-config.ts'
import { type MarkerBill, markersOf } from '../../src/tune/guard/outcome.ts'
import { createPlays, type Plays } from '../../src/tune/guard/plays.ts'
import { listLogs } from '../../src/tune/logs/list-logs.ts'
import { type Conversation, readConversations } from '../../src/tune/play/conversation.ts'
import type { Seen } from '../../src/tune/rules/class-stats.ts'

export const PRICES = DEFAULT_PRICES.anthropic
const context = createLocalContext()

export function conversationsOf(corpus: string): readonly Conversation[] {
  return readConversations(listLogs([`${corpus}/sessions`]))
}

/** Plays of the default configuration. */
export function playsOf(elides: boolean): Plays {
  const configWith = (changes: Parameters<typeof changedConfig>[1]) =>
    changedConfig(DEFAULT_PIPELINE, changes)
  return createPlays({ context, configWith, elides })
}

export function markersBy(
  conversations: readonly Conversation[],
  plays: Plays,
  share: number,
): ReadonlyMap<Conversation, readonly MarkerBill[]> {
  return new Map(
    conversations.map(each => [each, markersOf(each, plays.outcome(each), { share }, PRICES)]),
  )
}

export function seenBy(
  conversations: readonly Conversation[],
  plays: Plays,
  markers: ReadonlyMap<Conversation, readonly MarkerBill[]>,
): readonly Seen[] {
  return conversations.map(conversation => {
    const { played } = plays.outcome(conversation)
    return { conversation, played, markers: markers.get(conversation) ?? [] }
  })
}
