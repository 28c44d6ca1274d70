import { type JsonBytes, memberOf, members, RANGE } from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { shortValue } from '../members.ts'
import { LIST_KINDS, type ListKind } from './catalogue.ts'

/** How long clients may keep a result, in milliseconds, and whether they may share it. */
export interface CacheHint {
  readonly ttlMs: number
  readonly cacheScope: 'public' | 'private'
}

/** For results that come from servers of earlier revisions, which name none. */
export const UNCACHED: CacheHint = { ttlMs: 0, cacheScope: 'private' }

const HINT = members({ ttlMs: RANGE, cacheScope: RANGE })

/** What a result says of itself; `UNCACHED` for whatever it does not say. */
export function readHint(result: JsonBytes): CacheHint {
  const limits = { maxBytes: result.length, maxDepth: 10_000, maxValues: 4 }
  const root = readJson(result, HINT, limits)
  if (root === null || root.doubled) return UNCACHED
  const at = (name: string) => {
    const node = memberOf(root, name)
    return node === undefined ? undefined : shortValue(result.subarray(node.start, node.end))
  }
  const ttlMs = at('ttlMs')
  return {
    ttlMs: Number.isSafeInteger(ttlMs) && (ttlMs as number) >= 0 ? (ttlMs as number) : 0,
    cacheScope: at('cacheScope') === 'public' ? 'public' : 'private',
  }
}

/** The strictest of several hints; `null` if there is none. */
function strictest(hints: readonly CacheHint[]): CacheHint | null {
  if (hints.length === 0) return null
  const isPublic = hints.every(({ cacheScope }) => cacheScope === 'public')
  return {
    ttlMs: hints.reduce((least, { ttlMs }) => Math.min(least, ttlMs), Infinity),
    cacheScope: isPublic ? 'public' : 'private',
  }
}

/** What servers say of their lists. */
export class CacheHints {
  readonly #of = new Map<ListKind, Map<string, CacheHint>>(
    LIST_KINDS.map(kind => [kind, new Map()]),
  )

  /** @param pages hints of all pages of the list */
  set(server: string, kind: ListKind, pages: readonly CacheHint[]): void {
    this.#of.get(kind)?.set(server, strictest(pages) ?? UNCACHED)
  }

  /** The hint for the list of all servers; `UNCACHED` if none has such a list. */
  of(kind: ListKind): CacheHint {
    return strictest([...(this.#of.get(kind)?.values() ?? [])]) ?? UNCACHED
  }
}
