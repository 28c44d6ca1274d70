import type { OverflowHint } from './hint.ts'
import { isJsonObject, type Json, type ToolCall, validToolCall } from './tool-call.ts'

/** What a tool's provider reports about a result that is one page of many. */
export interface Pagination {
  readonly total: number
  readonly returned: number
  /** Items before the first of this page. */
  readonly offset?: number | undefined
  /** The provider's own name for the start of the next page: a cursor, a page, an offset. */
  readonly next?: string | number | undefined
}

type Args = ToolCall['args']
/** Arguments by which tools page, without `_` and `-`, in lower case. */
const PAGE = new Set(['page', 'pageno', 'pagenum', 'pagenumber', 'pageindex', 'currentpage'])
const OFFSET = new Set(['offset', 'skip', 'startat', 'startindex', 'start'])
const SIZE = new Set(['limit', 'count', 'perpage', 'pagesize', 'size', 'maxresults', 'take', 'top'])
/** Not `after` or `marker`: these filter as often as they page. */
const CURSOR = new Set([
  'cursor',
  'nextcursor',
  'pagecursor',
  'pagetoken',
  'nextpagetoken',
  'nexttoken',
  'continuationtoken',
  'startingafter',
  'scrollid',
])

/**
 * The call that returns the page after this one. Returns `null` if arguments and pagination do not
 * show for certain how the tool pages. The argument that moves on must be among `args`: an argument
 * that the call did not use is never guessed. The result is part of an overflow hint.
 * @param args arguments of the call that returned this page, as parsed by `JSON.parse`
 */
export function nextPageCall(
  tool: string,
  args: unknown,
  pagination: Pagination,
): Pick<OverflowHint, 'call' | 'changed'> | null {
  if (!isJsonObject(args) || pagination.returned <= 0) return null
  if ((pagination.offset ?? 0) + pagination.returned >= pagination.total) return null
  const moving = Object.keys(args).filter(name => {
    const plain = plainName(name)
    return PAGE.has(plain) || OFFSET.has(plain) || CURSOR.has(plain)
  })
  const [name] = moving
  if (name === undefined || moving.length > 1) return null
  const value = nextValue(plainName(name), args[name] as Json, sizeOf(args), pagination)
  if (value === null) return null
  const call = { name: tool, args: { ...args, [name]: value } }
  if (!validToolCall(call)) return null
  return Object.keys(args).length === 1 ? { call } : { call, changed: [name] }
}

function nextValue(
  name: string,
  now: Json,
  size: number | undefined,
  pagination: Pagination,
): string | number | null {
  if (CURSOR.has(name)) return nextCursor(now, pagination.next)
  if (!isCount(now) || (size !== undefined && pagination.returned !== size)) return null
  const next = PAGE.has(name)
    ? nextPage(now, size, pagination)
    : nextOffset(now, name, size, pagination)
  // The provider's next page must be the same, in the type of the argument.
  return pagination.next === undefined || Number(pagination.next) === next ? next : null
}

/**
 * A cursor of the type of the argument, or of any type if the argument is `null`. An address is no
 * cursor.
 */
function nextCursor(now: Json, next: string | number | undefined): string | number | null {
  if (next === undefined || next === '' || next === now) return null
  if (now !== null && typeof now !== typeof next) return null
  return typeof next === 'string' && next.includes('://') ? null : next
}

/** Pages count from 0 or from 1. The result must be the same for both. */
function nextPage(page: number, size: number | undefined, pagination: Pagination): number | null {
  const { offset, returned, total, next } = pagination
  const items = size ?? returned
  if (offset !== undefined) {
    return offset === (page - 1) * items || offset === page * items ? page + 1 : null
  }
  if (next !== undefined) return page + 1
  return size !== undefined && page * items + returned < total ? page + 1 : null
}

/**
 * The next offset. It counts from 0, or from 1 for some tools that call it `start`. Offsets that
 * count otherwise are not handled.
 */
function nextOffset(
  now: number,
  name: string,
  size: number | undefined,
  { offset, returned, total }: Pagination,
): number | null {
  const next = now + returned
  if (offset !== undefined) {
    return offset === now || (name.startsWith('start') && offset === now - 1) ? next : null
  }
  return name.startsWith('start') || size === undefined || next >= total ? null : next
}

/** Items a page, if exactly one argument has their number. */
function sizeOf(args: Args): number | undefined {
  const sizes = Object.entries(args).filter(([name]) => SIZE.has(plainName(name)))
  const [, size] = sizes.length === 1 ? (sizes[0] ?? []) : []
  return isCount(size) ? size : undefined
}

function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
