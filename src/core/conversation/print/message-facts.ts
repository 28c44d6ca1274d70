import { hash } from 'node:crypto'
import { itemsOf, type JsonNode, memberOf } from '../../json/bytes/json-node.ts'
import { QUOTE } from '../../json/char-codes.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { messagePieces } from '../parse/shared-messages.ts'

/** What is compared of a message. */
export interface MessageFacts {
  /** Breakpoints do not count. A text and a list with this text alone have the same. */
  readonly digest: string
  /** The same as a number of 32 bits. */
  readonly short: number
  /** How many content blocks it has. */
  readonly blocks: number
}

/** A later turn has the node of a message only if all bytes up to its end are the same. */
const known = new WeakMap<JsonNode, MessageFacts>()

export function messageFacts(scanned: ScannedRequest, index: number): MessageFacts {
  const node = scanned.read[index]!
  const before = known.get(node)
  if (before !== undefined) return before
  const digest = digestOf(canonicalPieces(scanned, index))
  const blocks = Math.max(1, itemsOf(memberOf(node, 'content')).length)
  const facts = { digest, short: shortDigest(digest), blocks }
  known.set(node, facts)
  return facts
}

const TEXT_BLOCK = Buffer.from('[{"type":"text","text":')
const END_OF_BLOCK = Buffer.from('}]')

/** Clients write a text as a list to put a breakpoint behind it. */
function canonicalPieces(scanned: ScannedRequest, index: number): readonly Uint8Array[] {
  const pieces = messagePieces(scanned, index)
  const { body, read } = scanned
  const node = read[index]!
  const content = memberOf(node, 'content')
  if (pieces.length !== 1 || content === undefined || body[content.start] !== QUOTE) return pieces
  return [
    body.subarray(node.start, content.start),
    TEXT_BLOCK,
    body.subarray(content.start, content.end),
    END_OF_BLOCK,
    body.subarray(content.end, node.end),
  ]
}

const DIGITS = 16

export function digestOf(pieces: readonly Uint8Array[]): string {
  const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  return hash('sha256', bytes, 'hex').slice(0, DIGITS)
}

const SHORT_DIGITS = 8

/** The same as a number of 32 bits. */
export function shortDigest(digest: string): number {
  return Number.parseInt(digest.slice(0, SHORT_DIGITS), 16)
}
