import type { EncodeRequest } from '../contract/encode.ts'

/** Names under which servers give the number of all items, and where the next page begins. */
const TOTALS = ['total', 'total_count', 'totalCount', 'totalResults']
const CURSORS = ['next_cursor', 'nextCursor', 'next_page', 'nextPage', 'nextPageToken']

/** A larger result has its totals at its ends, and is not parsed for them. */
const MAX_CHARS = 262_144
const HAS_TOTAL = /"(?:total|total_count|totalCount|totalResults)"\s*:\s*\d/

/**
 * What a result's JSON states of its pages: the number of all items, how many of them it has, and
 * the next page. An empty object if it states no number of items, or has no list.
 */
export function paginationOf(content: string): Pick<EncodeRequest, 'pagination'> {
  if (content.length > MAX_CHARS || !content.startsWith('{') || !HAS_TOTAL.test(content)) return {}
  const root = parseObject(content)
  const total = valueIn(root, TOTALS)
  const list = Object.values(root).find(Array.isArray)
  if (!Number.isSafeInteger(total) || (total as number) < 0 || list === undefined) return {}
  const next = valueIn(root, CURSORS)
  const isCursor = Number.isSafeInteger(next) || (typeof next === 'string' && next.length <= 1_024)
  const pages = { total: total as number, returned: list.length }
  if (pages.returned > pages.total) return {}
  return { pagination: { ...pages, ...(isCursor ? { next: next as string | number } : {}) } }
}

function parseObject(content: string): Record<string, unknown> {
  try {
    return JSON.parse(content) as Record<string, unknown>
  } catch {
    return {}
  }
}

function valueIn(root: Record<string, unknown>, names: readonly string[]): unknown {
  const name = names.find(each => Object.hasOwn(root, each))
  return name === undefined ? undefined : root[name]
}
