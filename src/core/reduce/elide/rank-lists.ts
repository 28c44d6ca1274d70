import { ObjectValue, type Value } from '../../json/value.ts'
import { rankItems } from './rank-items.ts'

/** Shorter lists stay as they are. */
const LEAST_ITEMS = 20
/** Levels of a value that are looked into for lists. */
const DEEPEST = 64

/**
 * What the items of a value's long lists mean. Lists inside the items of such a list are not looked
 * into.
 */
export function rankLists(value: Value): ReadonlyMap<readonly Value[], Uint8Array> {
  const ranks = new Map<readonly Value[], Uint8Array>()
  const visit = (inner: Value, level: number): void => {
    if (level > DEEPEST) return
    if (inner instanceof ObjectValue) for (const member of inner.values) visit(member, level + 1)
    else if (Array.isArray(inner)) {
      if (inner.length >= LEAST_ITEMS) ranks.set(inner, rankItems(inner))
      else for (const item of inner) visit(item, level + 1)
    }
  }
  visit(value, 0)
  return ranks
}
