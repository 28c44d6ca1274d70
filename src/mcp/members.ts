import { joinJson } from '../core/json/bytes/checked-json.ts'
import {
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  RANGE,
  type Selection,
} from '../core/json/bytes/json-node.ts'
import { skipSpace } from '../core/json/bytes/json-tokens.ts'
import { readJson } from '../core/json/bytes/read-json.ts'
import { COMMA, OPEN_BRACE, QUOTE } from '../core/json/char-codes.ts'

/** An object without members. */
export const EMPTY_OBJECT: JsonBytes = Buffer.from('{}')

/** Levels of nesting that an object may have. */
const MAX_DEPTH = 10_000

/**
 * The bytes of one member's value.
 * @param object a JSON object
 * @returns `undefined` if there is no such member; `null` if the bytes are no JSON object, or if it
 *   has the member twice: another parser might take the other one
 */
export function member(object: JsonBytes, name: string): JsonBytes | null | undefined {
  const root = read(object, name)
  if (root === null) return null
  const node = memberOf(root, name)
  return node === undefined ? undefined : object.subarray(node.start, node.end)
}

/** Names, addresses and versions are shorter. */
const MOST_TEXT_BYTES = 256 * 1024

/**
 * The text of a member; `null` if it is no string or a very long one, or in the cases of `member`.
 */
export function textMember(object: JsonBytes, name: string): string | null {
  const raw = member(object, name)
  if (raw?.[0] !== QUOTE || raw.length > MOST_TEXT_BYTES) return null
  return JSON.parse(raw.toString()) as string
}

/** Numbers, flags and words that decide something are shorter. */
const MOST_SHORT_BYTES = 1_024

/** A value that can only be right if it is short; `undefined` if it is not. */
export function shortValue(raw: JsonBytes): unknown {
  return raw.length > MOST_SHORT_BYTES ? undefined : JSON.parse(raw.toString())
}

const ALL_MEMBERS = members({ '': RANGE }, () => true)

/**
 * All members of an object, by their names.
 * @param most how many there may be
 * @returns `null` if there are more, or in the cases of `member`
 */
export function allMembers(object: JsonBytes, most: number): ReadonlyMap<string, JsonBytes> | null {
  const limits = { maxBytes: object.length, maxDepth: MAX_DEPTH, maxValues: most + 1 }
  const root = readJson(object, ALL_MEMBERS, limits)
  if (root === null || root.doubled || object[root.start] !== OPEN_BRACE) return null
  const nodes = [...(root.members ?? []), ...(root.others ?? [])]
  const found = new Map(nodes.map(({ key, start, end }) => [key, object.subarray(start, end)]))
  return found.size === nodes.length ? found : null
}

/** A member that is an object; `null` if it is none, or in the cases of `member`. */
export function objectMember(object: JsonBytes, name: string): JsonBytes | null {
  const raw = member(object, name)
  return raw?.[0] === OPEN_BRACE ? raw : null
}

/**
 * The object with this value for this member: in the place of the earlier one, or as the last. All
 * other bytes stay.
 * @param object a JSON object
 * @param rawValue one JSON text
 * @returns `null` in the cases of `member`
 */
export function withMember(
  object: JsonBytes,
  name: string,
  rawValue: JsonBytes | string,
): JsonBytes | null {
  const root = read(object, name)
  if (root === null) return null
  const value = typeof rawValue === 'string' ? Buffer.from(rawValue) : rawValue
  const node = memberOf(root, name)
  if (node !== undefined) return replaced(object, node.start, node.end, value)
  const close = root.end - 1
  const isEmpty = skipSpace(object, root.start + 1) === close
  const key = Buffer.from(`${isEmpty ? '' : ','}${JSON.stringify(name)}:`)
  return replaced(object, close, close, key, value)
}

/**
 * The object without this member; the same bytes if there is none.
 * @param object a JSON object
 * @returns `null` in the cases of `member`
 */
export function withoutMember(object: JsonBytes, name: string): JsonBytes | null {
  const root = read(object, name)
  if (root === null) return null
  const node = memberOf(root, name)
  if (node === undefined) return object
  const after = skipSpace(object, node.end)
  if (object[after] === COMMA) return replaced(object, node.keyStart, after + 1)
  return replaced(object, commaBefore(object, node), node.end)
}

/** Where the comma before the last member is; where its key starts if it is the only one. */
function commaBefore(object: JsonBytes, { keyStart }: JsonNode): number {
  let at = keyStart - 1
  while (object[at] !== COMMA && object[at] !== OPEN_BRACE) at--
  return object[at] === COMMA ? at : keyStart
}

/** Some names come from servers: only the first short ones are remembered. */
const MAX_SELECTIONS = 256
const MAX_NAME = 64
const selections = new Map<string, Selection>()

/** Made once for each name, since every call reads the same few members. */
function selectionOf(name: string): Selection {
  const known = selections.get(name)
  if (known !== undefined) return known
  const selection = members({ [name]: RANGE })
  if (selections.size < MAX_SELECTIONS && name.length <= MAX_NAME) selections.set(name, selection)
  return selection
}

/** The object with only this member selected; `null` if it cannot be relied upon. */
function read(object: JsonBytes, name: string): JsonNode | null {
  const limits = { maxBytes: object.length, maxDepth: MAX_DEPTH, maxValues: 3 }
  const root = readJson(object, selectionOf(name), limits)
  if (root === null || root.doubled || object[root.start] !== OPEN_BRACE) return null
  return root
}

/** The bytes of a JSON text with others in the place of those from `start` to `end`. */
export function replaced(
  bytes: JsonBytes,
  start: number,
  end: number,
  ...inserted: readonly JsonBytes[]
): JsonBytes {
  return joinJson(bytes.subarray(0, start), ...inserted, bytes.subarray(end))
}
