import { hash } from 'node:crypto'
import { LOCAL_TENANT } from '../core/base/tenant-name.ts'
import { type TextBytes, toText } from '../core/base/text-bytes.ts'
import type {
  DecodeAnswer,
  DecodeRequest,
  EncodeAnswer,
  EncodeRequest,
} from '../core/contract/encode.ts'
import type { KeepItem } from '../core/contract/operation-result.ts'
import { validate } from '../core/contract/validate.ts'
import { decodeOperation } from '../core/operations/decode.ts'
import { encodeOperation } from '../core/operations/encode.ts'
import type { OperationContext } from '../core/operations/operation.ts'
import { createSessionDesk, type SessionDesk } from '../core/operations/session-desk.ts'
import { shortRef } from '../core/sessions/turn/long-references.ts'
import { commitBody, lengthenBody } from '../core/sessions/turn/remember.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../core/sessions/turn/shared-sessions.ts'

/** Sessions of this process alone, whose originals are kept in its memory as long as it lives. */
export interface LocalSessions {
  /** As `POST /v1/encode`, with sessions. */
  encode(request: EncodeRequest): EncodeAnswer
  /** As `POST /v1/decode`. */
  decode(request: DecodeRequest): DecodeAnswer
  /**
   * The text that a hash, or a session's reference, represents; `null` if there is none, or more
   * than one.
   */
  original(id: string, session?: string): string | null
  readonly desk: SessionDesk
}

/** The bodies of a session that a reference of so many digits may name. */
function identitiesOf(byRef: ReadonlyMap<string, string>, id: string): string[] {
  return [...byRef].filter(([ref]) => ref.length <= id.length).map(([, identity]) => identity)
}

/** @param bodyBytes memory for recent results, which references to lines are made from */
export function createLocalSessions(
  context: OperationContext,
  { bodyBytes }: { readonly bodyBytes: number },
): LocalSessions {
  const shared = createSharedSessions({ maxSessions: 10_000, maxEntries: 50_000 }, bodyBytes)
  const sessions = attachSessions(shared, { owner: MAIN_OWNER })
  const originals = new Map<string, TextBytes>()
  /** By session, then by reference. */
  const bySession = new Map<string, Map<string, string>>()
  const encodeContext = {
    ...context,
    keepsOriginals: true,
    // Nothing here depends on the time.
    sessions: { ...sessions, tenant: LOCAL_TENANT, nowMs: 0 },
  }

  /**
   * Keeps a body. Returns whether the answer's reference to it is true: a session's reference means
   * one body.
   */
  function keep({ ticket, session, ref, ...text }: KeepItem): boolean {
    const identity = hash('sha256', text.bytes, 'hex')
    const isTaken = session !== undefined && !link(session, identity, ref)
    if (!isTaken) originals.set(identity, text)
    if (ticket === undefined) return true
    if (isTaken) lengthenBody(sessions, ticket)
    commitBody(sessions, ticket, !isTaken)
    return !isTaken
  }

  function link(session: string, identity: string, ref = shortRef(identity)): boolean {
    const known = bySession.get(session) ?? new Map<string, string>()
    bySession.set(session, known)
    if ((known.get(ref) ?? identity) !== identity) return false
    known.set(ref, identity)
    return true
  }

  function find(id: string, session?: string): TextBytes | null {
    const own = session === undefined ? undefined : (bySession.get(session) ?? new Map())
    // A short reference means the body that had it first, not those that have longer ones.
    const among = own === undefined ? originals.keys() : identitiesOf(own, id)
    const found = [...new Set(among)].filter(identity => identity.startsWith(id))
    return found.length === 1 ? (originals.get(found[0]!) ?? null) : null
  }

  return {
    encode(request) {
      const asked = validate(encodeOperation.request, request)
      const {
        answer,
        keep: kept = [],
        dependencies = [],
      } = encodeOperation.run(asked, encodeContext)
      const isKept = kept.map(keep).every(Boolean)
      // What a refused call gave to its tool was never kept.
      if (isKept && dependencies.every(({ ref, session }) => find(ref, session) !== null))
        return answer
      const detached = {
        ...encodeContext,
        sessions: { ...encodeContext.sessions, isDetached: true },
      }
      const other = encodeOperation.run(asked, detached)
      other.keep?.forEach(keep)
      return other.answer
    },
    decode(request) {
      const asked = validate(decodeOperation.request, request)
      const [lookup] = decodeOperation.lookups?.(asked, { sessions: false }) ?? []
      const { session, refs } = lookup?.references ?? { refs: [] }
      const texts: Record<string, TextBytes> = Object.create(null)
      for (const ref of refs) {
        const text = find(ref, session)
        if (text !== null) texts[ref] = text
      }
      return decodeOperation.run(asked, { ...context, resolutions: [{ texts }] }).answer
    },
    original(id, session) {
      const text = find(id, session)
      return text === null ? null : toText(text)
    },
    desk: createSessionDesk(sessions.index),
  }
}
