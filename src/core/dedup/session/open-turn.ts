import { hash } from 'node:crypto'
import type { SessionIndex, Turn } from '../index/session-index.ts'
import { type SessionKey, sessionKey } from '../index/session-key.ts'
import { type ScannedText, scanText } from '../lines/scan-text.ts'
import { type CallFacts, hash32, kindOf, pathOf } from './call-facts.ts'

/** A result as it comes to a session. */
export interface IncomingResult extends CallFacts {
  readonly session: string
  readonly content: string
  readonly is_sidechain?: boolean | undefined
}

/** A result's place in its session. */
export interface SessionTurn {
  readonly session: string
  readonly key: SessionKey
  /** Names the agent's context since its last compaction; bodies are kept under it, so that none outlives that. */
  readonly context: SessionKey
  readonly turn: Turn
  /** SHA-256 of the content's UTF-8 bytes. */
  readonly identity: string
  readonly callHash: number
  /** The content's lines; read when first asked for. `null`: too many. */
  scan(): ScannedText | null
}

/** Which calls make earlier results stale. */
export interface Invalidation {
  /** Tools that write the file they are given. */
  readonly mutating: readonly string[]
  /** Tools whose results go with this call. */
  readonly stale: readonly string[]
}

/**
 * Counts a result in its session and makes stale what its call changed, whatever the size or outcome of the result.
 * @param nowMs only tells idle sessions from others
 * @returns `null` where the result takes no part in references: a sub-agent's, whose context is another one that is
 * not named; and text that UTF-8 cannot say, which has no identity
 */
export function openTurn(
  index: SessionIndex,
  tenant: string,
  result: IncomingResult,
  { nowMs, invalidation }: { readonly nowMs: number; readonly invalidation: Invalidation },
): SessionTurn | null {
  const { session, content, tool_call_id } = result
  const key = sessionKey(tenant, session)
  invalidate(index, key, result, invalidation)
  if (result.is_sidechain === true) return null
  const callHash = hash32(tool_call_id)
  if (!content.isWellFormed()) {
    index.begin(key, { timeMs: nowMs })
    return null
  }
  const identity = hash('sha256', content, 'hex')
  const turn = index.begin(key, { timeMs: nowMs, callHash, identity })
  const context = contextKey(turn)
  let scanned: ScannedText | null | undefined
  const scan = () => {
    if (scanned === undefined) scanned = scanText(content, context)
    return scanned
  }
  return { session, key, context, turn, identity, callHash, scan }
}

function invalidate(
  index: SessionIndex,
  key: SessionKey,
  result: IncomingResult,
  { mutating, stale }: Invalidation,
): void {
  const path = kindOf(result.tool, mutating) === 'file-mutate' ? pathOf(result) : undefined
  if (path !== undefined) index.invalidate(key, { pathHash: hash32(path), kind: 'file-read' })
  for (const other of stale) {
    index.invalidate(key, { toolHash: hash32(other) })
  }
}

/** An epoch is given to one session and one life of it, and never again. */
function contextKey({ key, epoch }: Turn): SessionKey {
  return [key[0], key[1], key[2], key[3] ^ epoch] as unknown as SessionKey
}
