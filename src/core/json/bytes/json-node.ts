import { BACKSLASH, QUOTE } from '../char-codes.ts'

/** The place of a selected value in a body, and its selected parts. Offsets count bytes. */
export interface JsonNode {
  readonly start: number
  end: number
  /** The key of the member; empty for other values. */
  readonly key: string
  /** Offset of the key's literal; -1 for values without a key. */
  readonly keyStart: number
  /** The selected members of an object; of equal keys the last, as for `JSON.parse`. */
  members: JsonNode[] | null
  /** The items of an array, where they were selected. */
  items: JsonNode[] | null
  /** Members that were not selected by their keys, as `Selection.others` says; each occurrence. */
  others: JsonNode[] | null
  /** A selected key is there more than once: which one another parser takes is not known. */
  doubled: boolean
}

/** A JSON text that was read, as a buffer, which has the fast decoders. */
export type JsonBytes = Buffer<ArrayBufferLike>

/** The member with this key. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.members?.find(each => each.key === key)
}

/** Longer literals are rare where names are expected, and left to the built-in parser. */
const MAX_SHORT_BYTES = 64

/** The text of a string literal; `undefined` for another value. Lone surrogates stay. */
export function textOf(
  body: JsonBytes,
  node: Pick<JsonNode, 'start' | 'end'> | undefined,
): string | undefined {
  if (node === undefined || body[node.start] !== QUOTE) return undefined
  const { start, end } = node
  if (end - start > MAX_SHORT_BYTES || !isPlainAscii(body, start + 1, end - 1)) {
    return parseAt(body, node) as string
  }
  return body.toString('latin1', start + 1, end - 1)
}

function isPlainAscii(body: JsonBytes, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (body[at]! >= 0x80 || body[at] === BACKSLASH) return false
  }
  return true
}

/** The value as `JSON.parse` gives it. */
export function parseAt(body: JsonBytes, { start, end }: { start: number; end: number }): unknown {
  return JSON.parse(body.toString('utf8', start, end))
}

/** The items of an array; empty for another value. */
export function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.items ?? []
}

/**
 * What is read of a JSON value: of an object the members with these keys, of an array its items.
 * Everything else is checked and passed over.
 */
export interface Selection {
  readonly keys: readonly SelectedKey[]
  readonly items: Selection | null
  /** Whether a member with another key is read, as a range; absent: none is. */
  readonly others?: (key: string) => boolean
}

/** A member to read: `value` is what to read of it. */
export interface SelectedKey {
  readonly name: string
  /** The name in UTF-8. */
  readonly bytes: Uint8Array
  readonly value: Selection
}

/** Only where the value lies. */
export const RANGE: Selection = { keys: [], items: null }

/** Selects the members named of an object, and of the others those that are accepted. */
export function members(
  named: Readonly<Record<string, Selection>>,
  others?: (key: string) => boolean,
): Selection {
  const utf8 = new TextEncoder()
  const keys = Object.entries(named).map(([name, value]) => ({
    name,
    bytes: utf8.encode(name),
    value,
  }))
  return { keys, items: null, ...(others && { others }) }
}

/** Selects this of every item of an array. */
export function items(selection: Selection): Selection {
  return { keys: [], items: selection }
}
