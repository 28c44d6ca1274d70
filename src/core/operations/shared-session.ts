import type { LookupSources, SessionLookup } from '../contract/lookup.ts'
import type { Done } from '../contract/operation-result.ts'
import { callName, contentId } from '../pipeline/session-layer.ts'
import { applyChanges, type SharedTurn, wordsOf } from '../sessions/journal/apply-changes.ts'
import { writeChanges } from '../sessions/journal/changes.ts'
import { recordChanges } from '../sessions/journal/record-changes.ts'
import { callDigest } from '../sessions/turn/call-memory.ts'
import type { SessionContext } from '../sessions/turn/shared-sessions.ts'
import type { OperationContext } from './operation.ts'

/** The fields of a request by which a result is counted in its session. */
interface SessionRequest {
  readonly session?: string | undefined
  readonly content?: string | undefined
  readonly input_ref?: string | undefined
  readonly tool_call_id?: string | undefined
  readonly is_sidechain?: boolean | undefined
}

/** What a request must know of its session; `null` without one, or if only this process has it. */
export function sessionLookupOf(
  { session, content, input_ref = '', tool_call_id, is_sidechain }: SessionRequest,
  sources: LookupSources,
): SessionLookup | null {
  if (!sources.sessions || session === undefined) return null
  const isCounted = is_sidechain !== true
  if (tool_call_id === undefined) return { session, isCounted }
  const identity = content === undefined ? input_ref : contentId(content)
  return { session, isCounted, call: callDigest({ name: callName(tool_call_id), identity }) }
}

/**
 * Runs an operation in its session as the processes know it that share it, and collects what it
 * changes there. If that is unknown, it runs detached.
 */
export function inSharedSession<Answer>(
  { session, tool_call_id }: Pick<SessionRequest, 'session' | 'tool_call_id'>,
  context: OperationContext,
  run: (context: OperationContext) => Done<Answer>,
): Done<Answer> {
  const { sessions, resolutions } = context
  const isApart = sessions?.isShared !== true || sessions.isDetached === true
  if (sessions === undefined || isApart || session === undefined) return run(context)
  const shared = resolutions?.[0]?.shared
  if (shared === undefined) return run({ ...context, sessions: { ...sessions, isDetached: true } })
  const named = { session, isNamed: tool_call_id !== undefined }
  return runRecorded(named, shared, sessions, own => run({ ...context, sessions: own }))
}

/** Changes of a call without a name have no notes, because no retry can ask for them. */
function runRecorded<Answer>(
  { session, isNamed }: { readonly session: string; readonly isNamed: boolean },
  shared: SharedTurn,
  sessions: SessionContext,
  run: (sessions: SessionContext) => Done<Answer>,
): Done<Answer> {
  const { sequence, epoch, isUnsure } = shared
  const { tenant, nowMs: timeMs } = sessions
  applyChanges(sessions, { tenant, session }, shared)
  const recorded = recordChanges(sessions)
  const counted = sequence === undefined ? {} : { counted: { sequence, epoch, isUnsure } }
  const done = run({ ...sessions, ...recorded.sessions, ...counted })
  const changes = recorded.changes.filter(({ kind }) => isNamed || kind !== 'note')
  if (changes.length === 0) return done
  const turn = { sequence: sequence ?? 0, timeMs, changes }
  const written = writeChanges(turn, wordsOf(tenant, session, epoch))
  return { ...done, changes: [{ session, epoch, ...written }] }
}
