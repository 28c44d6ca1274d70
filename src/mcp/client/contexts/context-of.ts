import { hash } from 'node:crypto'
import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { EMPTY_OBJECT, member, objectMember, textMember } from '../../members.ts'

/** What may name the conversation that a result is read in. */
export interface ContextSources {
  /** The parameters of the request; a JSON object. */
  readonly params: JsonBytes | null
  /** The header `X-Haversack-Session`; `null` if there is none. */
  readonly header: string | null
  /** Names the connection, if its operator states that it is one context. */
  readonly connection: string | null
}

/** The header that names a context. */
export const CONTEXT_HEADER = 'x-haversack-session'

/** Longer names are replaced by their hash: they are names of sessions, which are bounded. */
const MAX_CHARS = 200

/**
 * The name of the context that a request belongs to; `null` if nothing names one. Then no result
 * may refer to another, because sub-agents share the connection of their parent.
 */
export function contextOf({ params, header, connection }: ContextSources): string | null {
  const meta = objectMember(params ?? EMPTY_OBJECT, '_meta') ?? EMPTY_OBJECT
  const named =
    nameFrom(textMember(meta, 'haversack/context')) ??
    nameFrom(header) ??
    nameFrom(textMember(meta, 'vscode.conversationId'), 'vscode ') ??
    codexContext(meta) ??
    connection
  if (named === null || named.length <= MAX_CHARS) return named
  return hash('sha256', Buffer.from(named, 'utf16le'), 'hex')
}

function nameFrom(name: string | null, prefix = '', suffix = ''): string | null {
  return name === null || name === '' ? null : `${prefix}${name}${suffix}`
}

/**
 * Codex names its session, the thread of each agent and, in newer versions, the window that a
 * compaction ends. A sub-agent that does not name its thread shares the session with its parent.
 */
function codexContext(meta: JsonBytes): string | null {
  const turn = turnMetadata(meta)
  if (turn === null) return null
  const thread = textMember(turn, 'thread_id')
  const isSubAgent =
    textMember(turn, 'thread_source') === 'subagent' || member(turn, 'subagent_kind') !== undefined
  const agent = thread ?? (isSubAgent ? null : textMember(turn, 'session_id'))
  const window = textMember(turn, 'window_id')
  return nameFrom(agent, 'codex ', window === null ? '' : ` ${window}`)
}

/** An object, or its text. */
function turnMetadata(meta: JsonBytes): JsonBytes | null {
  const name = 'x-codex-turn-metadata'
  const text = textMember(meta, name)
  return text === null ? objectMember(meta, name) : objectOf(text)
}

function objectOf(text: string): JsonBytes | null {
  const bytes = Buffer.from(text)
  // Whatever is no JSON object has no members.
  return member(bytes, '') === null ? null : bytes
}
