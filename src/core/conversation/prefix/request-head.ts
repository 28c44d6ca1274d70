import { itemsOf, type JsonNode, memberOf, textOf } from '../../json/bytes/json-node.ts'
import { type ByteRange, headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import { messagePieces, piecesOf } from '../parse/shared-messages.ts'

/** Where a part of the head stands, in the order of the prompt. */
export const PLACES = ['tools', 'system', 'first_message'] as const
export type HeadField = (typeof PLACES)[number]

/** A part of what stands before the conversation. */
export interface HeadPart {
  readonly place: HeadField
  /** As the client sent it. */
  readonly raw: Buffer
  /** What matters to the model: the same without cache breakpoints. */
  text(): Buffer
}

/** What may end a cached prefix in a part. */
const BREAKPOINTS = ['cache_control', 'prompt_cache_breakpoint'] as const

/**
 * The parts of a request before its conversation, up to the first message of a user, in the order
 * of the prompt. Returns `null` if the endpoint's requests are not read so far.
 */
export function headParts(scanned: ScannedRequest): readonly HeadPart[] | null {
  const { body, request, route, messages, opening } = scanned
  const rules = headRulesOf(route)
  if (rules === undefined) return null
  const parts: HeadPart[] = []
  const addMember = (place: HeadField, node: JsonNode | undefined) => {
    if (node === undefined) return
    const text = () => joined(piecesOf({ body, breakpoints: breakpointsIn(node) }, node))
    parts.push({ place, raw: rawOf(body, node), text })
  }
  addMember('tools', memberOf(request, 'tools'))
  if (rules.system !== undefined) addMember('system', memberOf(request, rules.system))
  for (let index = 0; index < opening; index++) {
    const place = index === opening - 1 ? 'first_message' : 'system'
    const text = () => joined(messagePieces(scanned, index))
    parts.push({ place, raw: rawOf(body, messages[index]!), text })
  }
  return parts
}

/** Cache breakpoints of the items of a list. */
export function breakpointsIn(list: JsonNode | undefined): readonly ByteRange[] {
  return itemsOf(list).flatMap(item =>
    BREAKPOINTS.flatMap(name => {
      const found = memberOf(item, name)
      return found === undefined ? [] : [{ start: found.keyStart, end: found.end }]
    }),
  )
}

/** The role of a message of the opening. */
export function roleOf({ body, read }: ScannedRequest, message: number): string | undefined {
  return textOf(body, memberOf(read[message], 'role'))
}

function rawOf(body: Buffer, { start, end }: ByteRange): Buffer {
  return body.subarray(start, end)
}

function joined(pieces: readonly Uint8Array[]): Buffer {
  return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
}
