import {
  type JsonBytes,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../../core/json/bytes/json-node.ts'
import { readJson } from '../../../core/json/bytes/read-json.ts'
import { QUOTE } from '../../../core/json/char-codes.ts'
import { LISTS, type ListEntry, type ListKind, MAX_ENTRIES } from '../catalogue.ts'
import { Parts } from './in-parts.ts'
import { splitItems } from './split-items.ts'

/** One page of a list. */
export interface ListPage {
  readonly entries: readonly ListEntry[]
  /** Items without a name or URI, by their places. */
  readonly nameless: readonly number[]
  readonly next: JsonBytes | null
}

/**
 * Reads one page of a list.
 * @returns `null` if it is none
 */
export async function readPage(kind: ListKind, result: JsonBytes): Promise<ListPage | null> {
  const { member, key } = LISTS[kind]
  const selection = members({ [member]: RANGE, nextCursor: RANGE })
  const limits = { maxBytes: result.length, maxDepth: 10_000, maxValues: 4 }
  const root = readJson(result, selection, limits)
  const list = memberOf(root ?? undefined, member)
  if (root === null || root.doubled || list === undefined) return null
  const items = await splitItems(result.subarray(list.start, list.end), 2 * MAX_ENTRIES)
  if (items === null) return null
  const entries: ListEntry[] = []
  const nameless: number[] = []
  const named = members({ [key]: RANGE })
  const parts = new Parts()
  for (const [at, raw] of items.entries()) {
    if (parts.isDue(raw.length)) await parts.pause()
    const item = readJson(raw, named, { maxBytes: raw.length, maxDepth: 10_000, maxValues: 3 })
    const name = textOf(raw, memberOf(item ?? undefined, key))
    if (name === undefined || item?.doubled) nameless.push(at)
    else entries.push({ key: name, raw })
  }
  const cursor = memberOf(root, 'nextCursor')
  const next = cursor === undefined ? null : result.subarray(cursor.start, cursor.end)
  return { entries, nameless, next: next?.[0] === QUOTE ? next : null }
}
