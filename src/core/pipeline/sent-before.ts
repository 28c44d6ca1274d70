import { HINT_FAMILIES } from '../hints/hint.ts'
import type { SentHints } from '../hints/policy.ts'
import type { Seen } from '../sessions/turn/call-memory.ts'
import type { SessionTurn } from '../sessions/turn/open-turn.ts'
import { createHintNotes } from '../sessions/turn/sent-hints.ts'
import type { SessionContext } from '../sessions/turn/shared-sessions.ts'
import type { Profile } from './profile/resolve.ts'

/** The hints that the session was sent so far, as far as the policy asks for them. */
export function sentTo(
  { index, bodies }: SessionContext,
  { turn, context }: Pick<SessionTurn, 'turn' | 'context'>,
  { hints }: Profile,
): Pick<Seen, 'sent' | 'since'> {
  const rules = HINT_FAMILIES.map(family => hints.types[family])
  const isLimited = rules.some(rule => rule.max_per_session !== undefined)
  const sent = isLimited ? (index.summary(turn.key)?.hints ?? []) : []
  if (!hasInterval(hints)) return { sent }
  const notes = createHintNotes(bodies, context)
  const since = rules.map(({ interval_results: interval = 1 }, family) =>
    notes.since(turn.sequence, family, interval - 1),
  )
  return { sent, since }
}

export function hasInterval({ types }: Profile['hints']): boolean {
  return HINT_FAMILIES.some(family => (types[family].interval_results ?? 1) > 1)
}

/** What the session had been sent when the call came first. */
export function sentBefore({ sent, since = [] }: Pick<Seen, 'sent' | 'since'>): SentHints {
  return {
    sentInSession: family => sent[HINT_FAMILIES.indexOf(family)] ?? 0,
    resultsSince: family => since[HINT_FAMILIES.indexOf(family)] || Infinity,
  }
}
