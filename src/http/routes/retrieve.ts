import { z } from 'zod'
import { TEXT_TYPES, type TextBytes, toText } from '../../core/base/text-bytes.ts'
import { MEDIA_TYPES, type MediaType, writeEnvelope } from '../../core/contract/envelope.ts'
import { HASH_DIGITS, sessionField } from '../../core/contract/fields.ts'
import { retrieveAnswer } from '../../core/contract/kept-contents.ts'
import { msgpack } from '../../core/contract/msgpack.ts'
import { validate } from '../../core/contract/validate.ts'
import { type PartQuery, parsePart } from '../../core/parts/parse-part.ts'
import type { Part, PartSelector } from '../../core/parts/part.ts'
import { wholeCharacters } from '../../core/parts/whole-characters.ts'
import type { Ticket } from '../../pool/admission.ts'
import type { ReadableOriginals } from '../../store/originals.ts'
import type { Reference, StoredBody } from '../../store/store.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { answerMedia } from '../request/media.ts'
import { requestHeader } from '../request/request-header.ts'
import { singleQuery } from '../request/single-query.ts'
import { leaveWhenRead } from '../response/answers.ts'
import type { Route } from './route.ts'

/** Longest parameter; a path or a text to search for. */
const MAX_CHARS = 2048

const text = z.string().max(MAX_CHARS)

const query = z.strictObject({
  session: sessionField.optional(),
  lines: text.optional().describe('40-80, 40- or -20: as printed before the lines, else from 1'),
  bytes: text.optional().describe('0-99, 100- or -100; from 0'),
  path: text
    .optional()
    .describe(
      'JSON path: members, indexes, slices, such as $.items[3:9]; with `lines`: of the text there',
    ),
  grep: text.optional().describe('Lines that have this text, which is no pattern'),
  context: text.optional().describe('Lines around each of them'),
  ignore_case: text.optional(),
  query: text.optional().describe('Accepted from gateways, without effect: nothing is held back'),
})

interface RetrieveNeeds extends Pick<AppDeps, 'admission'> {
  readonly originals: ReadableOriginals
}

/** A kept original, whole or in part. */
export const retrieveRoute: Route<RetrieveNeeds> = {
  method: 'get',
  path: '/v1/retrieve/:hash',
  summary:
    'Fetch back the original that a line "> [… not shown | hash=…]" names, or a part of it. ' +
    'A line that begins with "\\> [" is content that imitates one',
  scope: 'retrieve',
  parameters: query,
  answer: retrieveAnswer,
  mount: (app, needs) => app.get('/v1/retrieve/:hash', c => serve(c, needs)),
}

async function serve(c: AppContext, { admission, originals }: RetrieveNeeds): Promise<Response> {
  const state = c.get('state')
  const { caller } = state
  const { session, query: _query, ...partQuery } = validate(query, singleQuery(c))
  const selector = parsePart(partQuery as PartQuery)
  const reference: Reference = {
    tenant: caller.tenant,
    ref: c.req.param('hash') ?? '',
    ...(session === undefined ? {} : { session }),
  }
  const ticket = admission.enter(caller, 0)
  try {
    const asked = performance.now()
    const found =
      selector === undefined
        ? whole(await originals.fetch(reference, bytes => ticket.grow(bytes)))
        : await partOf(originals, reference, selector, ticket)
    state.timing = { queue: 0, work: performance.now() - asked }
    originals.noteFetch(caller.tenant, found.hash, found.text.bytes.length)
    const accept = answerMedia(requestHeader(c, 'accept'), 'json')
    const { media, body } = writeOriginal(found.fields, found.text, accept)
    const headers = answerHeaders(c)
    headers['content-type'] = MEDIA_TYPES[media]
    state.answerBytes = found.text.bytes.length
    leaveWhenRead(c, ticket, found.text.bytes.length, 0)
    return new Response(body, { headers })
  } catch (error) {
    ticket.leave()
    throw error
  }
}

/** The text to answer with, its hash, and the fields beside it. */
interface FoundText {
  readonly hash: string
  readonly text: TextBytes
  readonly fields: object
}

function whole(stored: StoredBody): FoundText {
  return {
    hash: stored.hash,
    text: { bytes: stored.body, media_type: stored.media_type },
    fields: fieldsOf(stored),
  }
}

async function partOf(
  originals: RetrieveNeeds['originals'],
  reference: Reference,
  selector: PartSelector,
  ticket: Ticket,
): Promise<FoundText> {
  const stored = await originals.fetchPart(reference, selector)
  ticket.grow(stored.part.content.length)
  const { content, ...where } = sayable(stored.part)
  return {
    hash: stored.hash,
    text: { bytes: content, media_type: stored.media_type },
    fields: { ...fieldsOf(stored), part: where },
  }
}

/**
 * A range of bytes without the halves of characters at its ends; `first` and `last` say what is
 * left.
 */
function sayable(part: Part): Part {
  if (part.kind !== 'bytes') return part
  const { start, end } = wholeCharacters(part.content)
  const first = part.first + start
  return { ...part, content: part.content.subarray(start, end), first, last: part.first + end - 1 }
}

function fieldsOf(stored: Omit<StoredBody, 'body'>): object {
  const { hash, media_type, bytes, created_at, expires_at } = stored
  return { hash: hash.slice(0, HASH_DIGITS), media_type, bytes, created_at, expires_at }
}

/** Up to here an answer is written in one piece, which takes under 200 µs. */
const PIECE_BYTES = 64 * 1024

/** An answer's media type, and its bytes, or the stream that they come in. */
interface WrittenAnswer {
  readonly media: MediaType
  readonly body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
}

/**
 * Writes `fields` and the text as `original_content`. A long text is written in pieces, so that the
 * event loop turns in between; a client that reads slowly slows them down.
 */
export function writeOriginal(fields: object, text: TextBytes, accept: MediaType): WrittenAnswer {
  if (text.bytes.length <= PIECE_BYTES) {
    const { media, bytes } = writeEnvelope({ ...fields, original_content: toText(text) }, accept)
    return { media, body: bytes as Uint8Array<ArrayBuffer> }
  }
  // MessagePack strings are UTF-8.
  return accept === 'msgpack' && text.media_type !== TEXT_TYPES.wtf8
    ? { media: 'msgpack', body: streamed(msgpackPieces(fields, text.bytes)) }
    : { media: 'json', body: streamed(jsonPieces(fields, text)) }
}

function* jsonPieces(fields: object, { bytes, media_type }: TextBytes): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  yield encoder.encode(`${JSON.stringify(fields).slice(0, -1)},"original_content":"`)
  for (let at = 0; at < bytes.length; ) {
    const end = pieceEnd(bytes, at)
    const piece = bytes.subarray(at, end)
    at = end
    const characters =
      media_type === TEXT_TYPES.wtf8 ? toText({ bytes: piece, media_type }) : decoder.decode(piece)
    yield encoder.encode(JSON.stringify(characters).slice(1, -1))
  }
  yield encoder.encode('"}')
}

/** Where a piece ends that begins at `at`: in front of the first byte of a character. */
function pieceEnd(bytes: Uint8Array, at: number): number {
  let end = at + PIECE_BYTES
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end++
  return Math.min(end, bytes.length)
}

/**
 * A map with one entry more than `fields`: MessagePack strings are the very bytes after their
 * length.
 */
function* msgpackPieces(fields: object, bytes: Uint8Array): Generator<Uint8Array> {
  const packed = msgpack().packr.pack({ ...fields, original_content: '' })
  const length = Buffer.alloc(5)
  length[0] = STR_32
  length.writeUInt32BE(bytes.length, 1)
  // The last byte is the empty string's, which the text replaces.
  yield Uint8Array.from(packed.subarray(0, -1))
  yield length
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES)
  }
}

/** MessagePack: a string whose length is the next 32 bits. */
const STR_32 = 0xdb

function streamed(pieces: Generator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      // A turn of the event loop for each piece.
      await new Promise(resolve => setImmediate(resolve))
      const { done, value } = pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}
