import { ObjectValue, type Value } from './value.ts'

/**
 * Whether a value has more than `limit` nodes, itself and scalars included. Looks at no more than
 * that.
 */
export function hasMoreNodes(value: Value, limit: number): boolean {
  const open: (readonly Value[])[] = [[value]]
  let nodes = 0
  for (let level = open.pop(); level !== undefined; level = open.pop()) {
    nodes += level.length
    if (nodes > limit) return true
    for (const inner of level) {
      const items = inner instanceof ObjectValue ? inner.values : inner
      if (Array.isArray(items) && items.length > 0) open.push(items)
    }
  }
  return false
}
