import type { RouteName } from '../core/messages/scan-request.ts'
import { MEDIA_TYPES } from '../core/requests/envelope.ts'
import { type ContentCoding, contentCodingOf } from '../core/transport/content-coding.ts'
import { type AppContext, requestHeader } from './context.ts'
import { essence } from './media.ts'

/** So end those that count tokens of a request, and use none. */
const COUNTING = ['/count_tokens', '/input_tokens']

/** Paths end so whose bodies are conversations, behind whatever a gateway puts before them. */
const ENDINGS: readonly (readonly [string, RouteName])[] = [
  ['/v1/messages', 'anthropic_messages'],
  ['/v1/messages/count_tokens', 'anthropic_messages'],
  ['/v1/chat/completions', 'openai_chat'],
  ...['/v1/responses', '/codex/responses'].flatMap(path => {
    // What is counted is what would be sent, and what is compacted was sent before.
    return ['', '/compact', '/input_tokens'].map(rest => [path + rest, 'openai_responses'] as const)
  }),
]

/** A body that can be rewritten. */
export interface RewritableBody {
  readonly shape: RouteName
  /** How it is compressed. */
  readonly coding?: ContentCoding
}

/**
 * What the body of a request is, `null` where it cannot be rewritten.
 * @param path at the upstream, with what its base URL has
 */
export function rewritableAs(c: AppContext, path: string): RewritableBody | null {
  if (c.req.method !== 'POST') return null
  const shape = shapeOf(pathOnly(path))
  if (shape === null || essence(requestHeader(c, 'content-type') ?? '') !== MEDIA_TYPES.json) {
    return null
  }
  const transfer = requestHeader(c, 'transfer-encoding') ?? 'chunked'
  if (transfer.toLowerCase() !== 'chunked') return null
  const encoding = requestHeader(c, 'content-encoding')
  if (encoding === undefined) return { shape }
  const coding = contentCodingOf(encoding)
  return coding === null ? null : { shape, coding }
}

/** The shape of a request that the vendor bills; `null` where its answer says nothing of usage. */
export function billedAs(c: AppContext, path: string): RouteName | null {
  const plain = pathOnly(path)
  const isCounting = COUNTING.some(ending => plain.endsWith(ending))
  return c.req.method === 'POST' && !isCounting ? shapeOf(plain) : null
}

/** Clients say so in the handshake for conversations over a WebSocket that they can have over HTTP as well. */
const WEBSOCKET_CONVERSATIONS = 'responses_websockets'

/**
 * Whether a request asks for a WebSocket that conversations of the Responses API are to go over, by a client that goes back to HTTP
 * where it gets none.
 */
export function wantsWebSocketConversation(c: AppContext, path: string): boolean {
  return (
    c.req.method === 'GET' &&
    shapeOf(pathOnly(path)) === 'openai_responses' &&
    requestHeader(c, 'upgrade')?.trim().toLowerCase() === 'websocket' &&
    requestHeader(c, 'openai-beta')?.includes(WEBSOCKET_CONVERSATIONS) === true
  )
}

function shapeOf(plain: string): RouteName | null {
  return ENDINGS.find(([ending]) => plain.endsWith(ending))?.[1] ?? null
}

function pathOnly(path: string): string {
  return path.split('?', 1)[0] as string
}
