import type { ObjectValue } from '../../../json/value.ts'
import { mergeKeyOrders } from './key-order.ts'
import { isFilled } from './plan-columns.ts'

/** Kinds of rows that are tried; each costs a pass over the keys of those before. */
const MOST_KINDS = 16

/** Rows of a table, at least, that have its columns; the others stand in brackets. */
const LEAST_REGULAR = 0.75

/**
 * The lists of keys that fit one table, the most frequent first, if not all do: a few rows of
 * another order, or with many keys of their own, should not cost the others their table. Returns
 * `null` if too few fit.
 */
export function regularKeys(rows: readonly ObjectValue[]): ReadonlySet<readonly string[]> | null {
  const rowsOf = new Map<readonly string[], ObjectValue[]>()
  const kinds = new Map<string, readonly string[]>()
  for (const row of rows) {
    const known = rowsOf.get(row.keys) ?? rowsOf.get(kinds.get(nameOf(row.keys)) ?? [])
    if (known !== undefined) known.push(row)
    else {
      kinds.set(nameOf(row.keys), row.keys)
      rowsOf.set(row.keys, [row])
    }
    if (kinds.size > rows.length * (1 - LEAST_REGULAR) + MOST_KINDS) return null
  }
  const byCount = [...rowsOf.values()].sort((a, b) => b.length - a.length).slice(0, MOST_KINDS)
  let regular: ObjectValue[] = []
  for (const kind of byCount) {
    const more = [...regular, ...kind]
    const order = mergeKeyOrders(more)
    if (order !== null && isFilled(order.names.length, more.length, order.members)) regular = more
  }
  return regular.length < rows.length * LEAST_REGULAR ? null : new Set(regular.map(row => row.keys))
}

/** Two lists have the same name only if they are the same. */
function nameOf(keys: readonly string[]): string {
  return JSON.stringify(keys)
}
