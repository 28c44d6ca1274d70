import { checkedJson } from '../../../core/json/bytes/checked-json.ts'
import {
  type JsonBytes,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../../core/json/bytes/json-node.ts'
import { byteAt, passOverString, skipSpace } from '../../../core/json/bytes/json-tokens.ts'
import { readJson } from '../../../core/json/bytes/read-json.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../../core/json/char-codes.ts'
import type { GatewayClient } from '../../gateway-options.ts'
import { RPC_ERRORS } from '../../json-rpc.ts'
import { EMPTY_OBJECT, member } from '../../members.ts'
import type { CallEnd, UpstreamConnection } from '../../upstream/connection.ts'
import { type CacheHint, readHint } from '../cache-hints.ts'
import { LISTS, type ListEntry, type ListKind, MAX_ENTRIES } from '../catalogue.ts'
import { Parts } from './in-parts.ts'
import { mendEntry } from './mend-entry.ts'

/** Time for one page of a list, in milliseconds. */
const PAGE_MS = 10_000
/** Pages of one list. */
const MAX_PAGES = 500
/** Bytes of one list, with everything that its pages hold. */
const MAX_LIST_BYTES = 8 * 1024 * 1024
/** Bytes of one entry: a larger one is of no use to a model, and is parsed in one go. */
const MAX_ENTRY_BYTES = 1024 * 1024
/** Odd entries of a list that are named. */
const MOST_NAMED = 20

export interface ListReading {
  readonly connection: Pick<UpstreamConnection, 'call'>
  readonly client: Pick<GatewayClient, 'ask'>
  /**
   * Reports what is odd about the list: `mended` and `left out` name an entry, `cut` says why
   * reading has ended early.
   */
  onOdd(event: 'mended' | 'left out' | 'cut', detail: object): void
}

export interface ReadList {
  readonly entries: readonly ListEntry[]
  /** `null` if the server lacks this list. */
  readonly hints: readonly CacheHint[] | null
}

/** Reads all pages of a list. @returns `null` if it cannot be read */
export async function readList(kind: ListKind, reading: ListReading): Promise<ReadList | null> {
  const all: ListEntry[] = []
  const hints: CacheHint[] = []
  const asked = new Set<string>()
  let cursor: JsonBytes | null = null
  let bytes = 0
  let cut: string | null = null
  do {
    const end = await askPage(kind, cursor, reading)
    if (end.kind !== 'answered') return null
    // Some servers state a capability as a whole, and lack a part of it.
    if (end.outcome.kind === 'error') {
      return isUnknownMethod(end.outcome.error) ? { entries: [], hints: null } : null
    }
    const { result } = end.outcome
    bytes += result.length
    if (bytes > MAX_LIST_BYTES) {
      cut = `it is above ${MAX_LIST_BYTES} bytes`
      break
    }
    const page = await readPage(kind, result)
    if (page === null) return null
    for (const at of page.nameless.slice(0, MOST_NAMED)) {
      reading.onOdd('left out', {
        entry: `number ${all.length + at + 1}`,
        members: [LISTS[kind].key],
      })
    }
    for (const entry of await mended(kind, page.entries, reading)) all.push(entry)
    hints.push(readHint(result))
    cursor = page.next
    const next = cursor?.toString() ?? ''
    // A server may go round in circles for ever.
    if (cursor !== null && asked.has(next)) cut = 'its cursor comes again'
    asked.add(next)
    if (asked.size > MAX_PAGES) cut = `it has more than ${MAX_PAGES} pages`
  } while (cursor !== null && cut === null && all.length < MAX_ENTRIES)
  if (cut === null) return { entries: all, hints }
  reading.onOdd('cut', { reason: cut })
  const seen = new Set<string>()
  return { entries: all.filter(({ key }) => !seen.has(key) && seen.add(key)), hints }
}

function askPage(
  kind: ListKind,
  cursor: JsonBytes | null,
  { connection, client }: ListReading,
): Promise<CallEnd> {
  const params: JsonBytes =
    cursor === null
      ? EMPTY_OBJECT
      : Buffer.concat([Buffer.from('{"cursor":'), cursor, Buffer.from('}')])
  return connection.call({
    method: LISTS[kind].method,
    params,
    signal: NEVER,
    timeoutMs: PAGE_MS,
    canRepeat: true,
    notify: () => {},
    ask: (method, about, asked) => client.ask(method, about, asked),
  })
}

const TOO_LARGE = { kind: 'left out', members: ['all, above a mebibyte'] } as const

/** Entries as clients take them; the others are named. */
async function mended(
  kind: ListKind,
  entries: readonly ListEntry[],
  { onOdd }: ListReading,
): Promise<readonly ListEntry[]> {
  const kept: ListEntry[] = []
  const parts = new Parts()
  let named = 0
  for (const entry of entries) {
    if (parts.isDue(entry.raw.length)) await parts.pause()
    const isTooLarge = entry.raw.length > MAX_ENTRY_BYTES
    const found = isTooLarge ? TOO_LARGE : mendEntry(kind, entry.raw)
    if (found.kind !== 'fine' && named++ < MOST_NAMED) {
      onOdd(found.kind, { entry: entry.key, members: found.members })
    }
    if (found.kind === 'fine') kept.push(entry)
    else if (found.kind === 'mended') kept.push({ key: entry.key, raw: found.raw })
  }
  return kept
}

const NEVER = new AbortController().signal

function isUnknownMethod(error: JsonBytes): boolean {
  return member(error, 'code')?.toString() === String(RPC_ERRORS.methodNotFound)
}

/** One page of a list. */
interface ListPage {
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

/**
 * The items of an array, which must be JSON. A large array is gone through in parts.
 * @param most how many there may be
 * @returns `null` if there are more, or if it is no array
 */
export async function splitItems(array: JsonBytes, most: number): Promise<JsonBytes[] | null> {
  if (array[0] !== OPEN_BRACKET) return null
  const items: JsonBytes[] = []
  const parts = new Parts()
  let at = skipSpace(array, 1)
  while (at < array.length - 1) {
    if (items.length === most) return null
    const end = endOfItem(array, at)
    items.push(array.subarray(at, end))
    if (parts.isDue(end - at)) await parts.pause()
    // After the comma, or the bracket.
    at = skipSpace(array, skipSpace(array, end) + 1)
  }
  return items
}

/** The offset after the value at `start`. */
function endOfItem(array: JsonBytes, start: number): number {
  const known = checkedJson(array)?.ends.get(array.byteOffset + start)
  if (known !== undefined) return known - array.byteOffset
  let depth = 0
  let at = start
  for (;;) {
    const c = byteAt(array, at)
    if (c === QUOTE) at = passOverString(array, at)
    else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      depth++
      at++
    } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
      depth--
      at++
    } else at = endOfPlain(array, at + 1)
    if (depth === 0) return at
  }
}

/** The offset after what has no structure: numbers, words, commas, colons and white space. */
function endOfPlain(array: JsonBytes, start: number): number {
  let at = start
  while (at < array.length && !STRUCTURE.has(array[at]!)) at++
  return at
}

const STRUCTURE: ReadonlySet<number> = new Set([
  QUOTE,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  CLOSE_BRACE,
  CLOSE_BRACKET,
])
