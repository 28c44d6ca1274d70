import {
  type SessionIndex,
  type SessionKey,
  sessionKey,
  type Turn,
} from '../index/session-index.ts'
import { type ScannedText, scanText } from '../lines/scan-text.ts'
import { type CallFacts, hash32, kindOf, pathOf } from './call-facts.ts'
import type { CallMemory, Seen } from './call-memory.ts'
import type { DedupTerms } from './dedup-terms.ts'
import type { CountedTurn } from './shared-sessions.ts'

/** A result as it comes to a session. */
export interface IncomingResult extends CallFacts {
  readonly session: string
  readonly content: string
}

/** A result's place in its session. */
export interface SessionTurn {
  readonly session: string
  /**
   * Names the agent's context since its last compaction; bodies are kept under it, so that none
   * outlives that.
   */
  readonly context: SessionKey
  readonly turn: Turn
  /** Whether turns before it may be missing. */
  readonly isUnsure?: boolean
  /** SHA-256 of the content's UTF-8 bytes. */
  readonly identity: string
  readonly callHash: number
  /** The content's lines; read when first asked for. `null`: too many. */
  scan(): ScannedText | null
}

/**
 * Makes the results stale that a call changed, whatever the size or outcome of its own result.
 * @param terms tools that write the file they are given, and those whose results go with this call
 */
export function invalidateBy(
  index: SessionIndex,
  key: SessionKey,
  call: CallFacts,
  { mutating, stale }: Pick<DedupTerms, 'mutating' | 'stale'>,
): void {
  const path = kindOf(call, mutating) === 'file-mutate' ? pathOf(call) : undefined
  if (path !== undefined) index.invalidate(key, { pathHash: hash32(path), kind: 'file-read' })
  for (const other of stale) index.invalidate(key, { toolHash: hash32(other) })
}

/** What is known of a call before its turn; `undefined` if it has no name. */
interface KnownCall {
  readonly name: string | undefined
  /** The identity of its result. */
  readonly identity: string
  readonly memory: CallMemory | undefined
  /** The epoch that `memory` is of. */
  readonly epoch: number
  /** See `SessionContext.counted`. */
  readonly counted: CountedTurn | undefined
}

/**
 * Counts a result in its session, unless it came before.
 * @param nowMs only distinguishes idle sessions from others
 */
export function openTurn(
  index: SessionIndex,
  key: SessionKey,
  { session, content }: IncomingResult,
  { name, identity, memory, epoch, counted }: KnownCall,
  nowMs: number,
): SessionTurn & { readonly seen: Seen | null } {
  const callHash = hash32(name)
  const seen = memory?.seen() ?? null
  const before = seen === null ? counted && placeOf(counted) : { sequence: seen.sequence, epoch }
  const again = before === undefined ? {} : { again: before }
  // Text that UTF-8 cannot encode has no identity; it is counted only.
  const facts = content.isWellFormed() ? { callHash, identity } : {}
  const turn = index.begin(key, { timeMs: nowMs, ...facts, ...again })
  const context = contextKey(key, turn.epoch)
  let scanned: ScannedText | null | undefined
  const scan = () => {
    if (scanned === undefined) scanned = scanText(content, context)
    return scanned
  }
  const isUnsure = counted?.isUnsure === true
  return { session, context, turn, isUnsure, identity, callHash, seen, scan }
}

function placeOf({ sequence, epoch }: CountedTurn): Pick<Turn, 'sequence' | 'epoch'> {
  return { sequence, epoch }
}

/**
 * The key of a session in an epoch, which is given to one session and one life of it, and never
 * again.
 */
export function contextKey(key: SessionKey, epoch: number): SessionKey {
  return [key[0], key[1], key[2], key[3] ^ epoch] as unknown as SessionKey
}

/** Whether the agent's context is still that one: not compacted, closed or evicted since. */
export function isPresent(
  index: SessionIndex,
  name: { readonly tenant: string; readonly session: string },
  context: SessionKey,
): boolean {
  const key = sessionKey(name.tenant, name.session)
  const present = index.present(key)
  return present !== null && contextKey(key, present.epoch).every((word, i) => word === context[i])
}
