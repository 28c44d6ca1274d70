import type { ConversationReader } from '../../dialects/bodies/conversation-reader.ts'
import { type JsonNode, memberOf } from '../../json/bytes/json-node.ts'

/** Longer values are no ids of sessions. */
const MAX_BYTES = 1024

/** Claude Code until 2.1: `user_<hex>_account_<uuid>_session_<uuid>`. */
const SESSION_AT_END = /_session_([\w.:-]{1,128})$/
const SESSION = /^[\w.:-]{1,128}$/

/**
 * What a body says of the session that it is from: the session in `metadata.user_id`, in both of
 * the formats that Claude Code has written, else `prompt_cache_key`. Returns `undefined` if it says
 * neither.
 */
export function unitInBody(request: JsonNode, reader: ConversationReader): string | undefined {
  const metadata = memberOf(request, 'metadata')
  const user = metadata?.doubled ? undefined : short(memberOf(metadata, 'user_id'), reader)
  const session = user === undefined ? undefined : sessionIn(user)
  if (session !== undefined) return sessionUnit(session)
  const cache = short(memberOf(request, 'prompt_cache_key'), reader)
  return cache === undefined || cache === '' ? undefined : `cache ${cache}`
}

/** The unit of a session, whether a header names it or the body. */
export function sessionUnit(session: string): string {
  return `session ${session}`
}

function short(node: JsonNode | undefined, reader: ConversationReader): string | undefined {
  return node === undefined || node.end - node.start > MAX_BYTES ? undefined : reader.text(node)
}

function sessionIn(user: string): string | undefined {
  const atEnd = SESSION_AT_END.exec(user)?.[1]
  return atEnd ?? (user.startsWith('{') ? sessionOfJson(user) : undefined)
}

/** Since then: an object as a text. */
function sessionOfJson(text: string): string | undefined {
  try {
    const id: unknown = Object(JSON.parse(text)).session_id
    return typeof id === 'string' && SESSION.test(id) ? id : undefined
  } catch {
    return undefined
  }
}
