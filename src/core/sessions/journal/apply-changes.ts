import { type TextBytes, toText } from '../../base/text-bytes.ts'
import { type SessionKey, type SharedState, sessionKey, type Turn } from '../index/session-index.ts'
import { scanText } from '../lines/scan-text.ts'
import { NO_TEXT, notesKey } from '../turn/call-memory.ts'
import { placeBody } from '../turn/earlier-results.ts'
import { contextKey } from '../turn/open-turn.ts'
import type { Sessions } from '../turn/shared-sessions.ts'
import { type Change, readChanges, type TurnChanges, type WrittenChanges } from './changes.ts'

/** A session as other processes know it, and what they did there since this one last looked. */
export interface SharedTurn extends SharedState {
  /** Position of the result that comes now; absent if it is not counted. */
  readonly sequence?: number
  /** Whether a turn before it may be missing, so that distances are not known. */
  readonly isUnsure: boolean
  /** For `readChanges`, in their order. */
  readonly changes: readonly WrittenChanges[]
  /** The texts that they name, by SHA-256, as far as this process needs them and could get them. */
  readonly texts: ReadonlyMap<string, TextBytes>
}

/**
 * Makes the session what the processes know of it that share it. A text that is missing cannot be
 * referred to here.
 */
export function applyChanges(
  sessions: Sessions,
  { tenant, session }: { readonly tenant: string; readonly session: string },
  shared: SharedTurn,
): void {
  const key = sessionKey(tenant, session)
  if (!sessions.index.adopt(key, shared)) return
  const words = wordsOf(tenant, session, shared.epoch)
  for (const turn of shared.changes.flatMap(each => readChanges(each, words))) {
    // A change that cannot be understood may have made anything stale.
    if (turn === null) sessions.index.invalidate(key, {})
    else applyTurn(sessions, key, turn, shared)
  }
}

/** What the notes of a session have in common, for `writeChanges`: its name, and its context. */
export function wordsOf(tenant: string, session: string, epoch: number): readonly string[] {
  const context = contextKey(sessionKey(tenant, session), epoch)
  return [JSON.stringify(session), JSON.stringify(context)]
}

function applyTurn(
  sessions: Sessions,
  key: SessionKey,
  { sequence, timeMs, changes }: TurnChanges,
  { epoch, texts }: SharedTurn,
): void {
  const { index } = sessions
  const turn = sequence === 0 ? null : index.begin(key, { timeMs, again: { sequence, epoch } })
  for (const change of changes) applyChange(sessions, { key, epoch, turn, texts }, change)
}

/** Where a change belongs. */
interface TurnTexts extends Pick<SharedTurn, 'epoch' | 'texts'> {
  readonly key: SessionKey
  readonly turn: Turn | null
}

function applyChange(
  { index, bodies }: Sessions,
  { key, epoch, turn, texts }: TurnTexts,
  change: Change,
): void {
  const context = contextKey(key, epoch)
  switch (change.kind) {
    case 'invalidate':
      index.invalidate(key, change.match)
      return
    case 'count':
      index.count(key, change.counters)
      return
    case 'hint':
      index.takeHint(key, change.family, change.max)
      return
    case 'note':
      confirm(bodies.place(NO_TEXT, notesKey(context), change.id, change.note))
      return
    case 'body': {
      const text = texts.get(change.identity)
      const scanned = text === undefined ? null : scanText(toText(text), context)
      if (scanned === null) return
      confirm(placeBody(bodies, scanned, context, change))
      return
    }
    case 'record': {
      const ticket = turn && index.record(turn, change.entry, { lruSize: change.lruSize })
      if (ticket !== null) index.commit(ticket, true)
      return
    }
    case 'refer': {
      const entry = turn && index.check(turn, change.identity)
      if (turn !== null && entry?.sequence === change.sequence)
        index.refer(turn, entry, change.callHash)
    }
  }

  function confirm(position: number | null): void {
    if (position !== null) bodies.confirm(position)
  }
}
