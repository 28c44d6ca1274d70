import { type ContentCoding, contentCodingOf } from '../../core/base/content-coding.ts'
import { MEDIA_TYPES } from '../../core/contract/envelope.ts'
import { SOCKET_ROUTE } from '../../core/conversation/usage/socket-events.ts'
import { dialects, type RouteName } from '../../core/dialects/lookup.ts'
import type { AppContext } from '../context.ts'
import { essence } from '../request/media.ts'
import { requestHeader } from '../request/request-header.ts'

/**
 * Paths whose bodies are conversations. Requests to count tokens are rewritten like those that are
 * sent, and requests to compact have texts that were sent before.
 */
const PATHS = dialects.flatMap(({ paths }) => paths)
const COUNTING = dialects.flatMap(({ counting }) => counting)

/** What the path of a request says of its body. */
export interface RequestShape {
  readonly shape: RouteName
  /** The model that the path names; absent: the body does. */
  readonly model?: string
  /** Whether its tokens are only counted. */
  readonly countsOnly?: true
}

/** A body that can be rewritten. */
export interface RewritableBody extends RequestShape {
  /** How it is compressed. */
  readonly coding?: ContentCoding
}

/**
 * How the body of a request can be rewritten; `null` if it cannot. @param path at the upstream,
 * with the path of its base URL
 */
export function rewritableAs(c: AppContext, path: string): RewritableBody | null {
  if (c.req.method !== 'POST') return null
  const shape = shapeOf(path)
  if (shape === null || !mayBeJson(requestHeader(c, 'content-type'))) return null
  const transfer = requestHeader(c, 'transfer-encoding') ?? 'chunked'
  if (transfer.toLowerCase() !== 'chunked') return null
  const encoding = withoutIdentity(requestHeader(c, 'content-encoding'))
  if (encoding === '') return shape
  const coding = contentCodingOf(encoding)
  return coding === null ? null : { ...shape, coding }
}

/** Clients that name no type, or `fetch` with a text, send JSON as plain text in UTF-8. */
function mayBeJson(type = 'text/plain'): boolean {
  const media = essence(type)
  if (media !== 'text/plain') return media === MEDIA_TYPES.json
  const charset = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8'
  return /^utf-?8$|^us-ascii$/i.test(charset)
}

/** The codings without `identity`, which changes nothing (RFC 9110 §8.4.1). */
function withoutIdentity(encoding = ''): string {
  const codings = encoding.split(',').map(coding => coding.trim())
  return codings.filter(coding => coding !== '' && coding.toLowerCase() !== 'identity').join(', ')
}

/** Whether a signature covers the body, as AWS's Signature Version 4 does. */
export function isSigned(c: AppContext): boolean {
  return requestHeader(c, 'authorization')?.startsWith('AWS4-') === true
}

/** The shape of a request that the vendor bills; `null` if its answer reports no usage. */
export function billedAs(c: AppContext, path: string): RequestShape | null {
  const shape = c.req.method === 'POST' ? shapeOf(path) : null
  return shape?.countsOnly === true ? null : shape
}

/** Whether a request asks for a WebSocket for conversations of the Responses API. */
export function wantsWebSocketConversation(c: AppContext, path: string): boolean {
  return (
    c.req.method === 'GET' &&
    shapeOf(path)?.shape === SOCKET_ROUTE &&
    requestHeader(c, 'upgrade')?.trim().toLowerCase() === 'websocket'
  )
}

function shapeOf(path: string): RequestShape | null {
  const plain = plainPath(path)
  for (const { ending, body } of PATHS) {
    const found = ending.exec(plain)
    if (found === null) continue
    const model = found.groups?.['model']
    return {
      shape: body as RouteName,
      ...(model === undefined ? {} : { model: decodedOnce(model) }),
      ...(COUNTING.some(end => plain.endsWith(end)) ? { countsOnly: true } : {}),
    }
  }
  return null
}

/**
 * Without the query and a slash at the end; colons as they are, since some clients encode them.
 */
function plainPath(path: string): string {
  return (path.split('?', 1)[0] as string).replace(/\/$/, '').replaceAll(/%3a/gi, ':')
}

function decodedOnce(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
