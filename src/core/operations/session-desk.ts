import type { InvalidateRequest, SessionSummaryAnswer } from '../contract/sessions.ts'
import { HINT_FAMILIES } from '../hints/hint.ts'
import {
  type SessionIndex,
  type SessionSummary,
  sessionKey,
} from '../sessions/index/session-index.ts'
import { hash32, pathOf } from '../sessions/turn/call-facts.ts'

/**
 * Actions of a client on a session besides sending results. Each returns `null` for an unknown
 * session.
 */
export interface SessionDesk {
  summary(tenant: string, session: string): SessionSummaryAnswer | null
  /** Nothing older is referred to from now on. @returns the new partition */
  compact(tenant: string, session: string): number | null
  /** @returns how many results are not referred to as a whole any more */
  invalidate(tenant: string, session: string, what: InvalidateRequest): number | null
  /** Forgets the session. @returns its last summary */
  close(tenant: string, session: string): SessionSummaryAnswer | null
}

export function createSessionDesk(index: SessionIndex): SessionDesk {
  return {
    summary: (tenant, session) =>
      summaryAnswer(session, index.summary(sessionKey(tenant, session))),
    compact: (tenant, session) => index.compact(sessionKey(tenant, session)),
    invalidate(tenant, session, what) {
      const key = sessionKey(tenant, session)
      if (index.summary(key) === null) return null
      return invalidationsOf(what).reduce((sum, { match }) => sum + index.invalidate(key, match), 0)
    },
    close: (tenant, session) => summaryAnswer(session, index.close(sessionKey(tenant, session))),
  }
}

/** The changes that an invalidation makes in a session. */
export function invalidationsOf({ file_paths = [], tools = [] }: InvalidateRequest) {
  const matches = [
    ...file_paths.map(file_path => ({ pathHash: hash32(pathOf({ file_path })) })),
    ...tools.map(tool => ({ toolHash: hash32(tool) })),
  ]
  return matches.map(match => ({ kind: 'invalidate', match }) as const)
}

function summaryAnswer(
  session: string,
  summary: SessionSummary | null,
): SessionSummaryAnswer | null {
  if (summary === null) return null
  const hints = HINT_FAMILIES.map((family, index) => [family, summary.hints[index] ?? 0] as const)
  return {
    session,
    partition: summary.partition,
    results: summary.results,
    entries: summary.entries,
    references: { exact: summary.exact, near: summary.near, lines: summary.lines },
    tokens: { baseline: summary.baseline_tokens, final: summary.final_tokens },
    savings: {
      exact_tokens: summary.exact_tokens_saved,
      near_tokens: summary.near_tokens_saved,
      lines_tokens: summary.lines_tokens_saved,
      encoder_tokens: summary.encoder_tokens_saved,
      elided_tokens: summary.elided_tokens,
    },
    hints: Object.fromEntries(hints) as SessionSummaryAnswer['hints'],
    opened_at: Math.round(summary.openedMs),
    seen_at: Math.round(summary.seenMs),
  }
}
