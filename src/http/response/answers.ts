import { MEDIA_TYPES, type MediaType, writeEnvelope } from '../../core/contract/envelope.ts'
import type { Ticket } from '../../pool/admission.ts'
import type { AppContext } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { answerMedia } from '../request/media.ts'
import { requestHeader } from '../request/request-header.ts'

/** An answer, ready to be sent. */
export interface Written {
  readonly media: MediaType
  readonly bytes: Uint8Array
}

/**
 * Answers with a value that is small enough to be written on the main thread, in the media type
 * that the client accepts; JSON if it names none.
 */
export function smallAnswer(c: AppContext, value: object): Response {
  return respond(c, writeEnvelope(value, answerMedia(requestHeader(c, 'accept'), 'json')))
}

interface Version {
  /** The same for the same bytes: letters, digits and what a file name may have. */
  readonly tag: string
  readonly cacheControl: string
}

interface Content {
  readonly bytes: Uint8Array
  readonly type: string
}

/**
 * An answer with an `ETag`: 304 without a body if the client has it already (`If-None-Match`, RFC
 * 9110 section 13.1.2). The ticket is left when the answer is read. @param content called only if
 * the content is sent
 */
export function answerUnlessKnown(
  c: AppContext,
  ticket: Ticket,
  { tag, cacheControl }: Version,
  content: () => Content,
): Response {
  const etag = `"${tag}"`
  const isKnown = knows(requestHeader(c, 'if-none-match'), etag)
  const body = isKnown ? null : content()
  const headers = answerHeaders(c)
  headers['etag'] = etag
  headers['cache-control'] = cacheControl
  headers['vary'] = 'Accept, Authorization, X-Api-Key'
  if (body === null) {
    ticket.leave()
    return new Response(null, { status: 304, headers })
  }
  headers['content-type'] = body.type
  c.get('state').answerBytes = body.bytes.length
  leaveWhenRead(c, ticket, body.bytes.length, body.bytes.length)
  return new Response(body.bytes as Uint8Array<ArrayBuffer>, { headers })
}

function knows(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some(each => {
    const known = each.trim()
    return known === '*' || known === etag || known === `W/${etag}`
  })
}

/** Answers with written bytes. */
export function respond(c: AppContext, { media, bytes }: Written): Response {
  const headers = answerHeaders(c)
  headers['content-type'] = MEDIA_TYPES[media]
  c.get('state').answerBytes = bytes.length
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers })
}

/**
 * Leaves the place when the answer has been read, so that unread answers are bounded too. A client
 * that reads more slowly than `SLOWEST_READER` loses its connection, and with it the place.
 * @param unclaimed bytes of the answer that the ticket does not hold yet
 */
export function leaveWhenRead(
  c: AppContext,
  ticket: Ticket,
  answerBytes: number,
  unclaimed: number,
): void {
  const outgoing = c.env?.outgoing
  if (outgoing === undefined || outgoing.destroyed) {
    ticket.leave()
    return
  }
  ticket.add(unclaimed)
  const limit = setTimeout(
    () => outgoing.destroy(),
    READ_GRACE_MS + (answerBytes * 1000) / SLOWEST_READER,
  )
  limit.unref()
  outgoing.once('close', () => {
    clearTimeout(limit)
    ticket.leave()
  })
}

/**
 * Bytes a second at which a client must read, and the time that it has in addition, in
 * milliseconds.
 */
const SLOWEST_READER = 100_000
const READ_GRACE_MS = 30_000
