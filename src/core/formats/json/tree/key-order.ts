import type { ObjectValue } from '../../../json/value.ts'

/** Keys of all rows, each after every key that comes before it in a row. */
interface KeyOrder {
  /** If all rows have one list of keys, that list. */
  readonly names: readonly string[]
  /** Members of all rows. */
  readonly members: number
}

/** Whether so many names and members are worth an order. */
type IsUseful = (names: number, members: number) => boolean

/**
 * One order of columns that agrees with the order of keys in every row, or `null` if there is none
 * (two rows disagree, or a row has a key twice), or if it is of no use. A depth-first topological
 * sort over neighbours in rows: linear, and without recursion.
 */
export function mergeKeyOrders(
  rows: readonly ObjectValue[],
  isUseful: IsUseful = () => true,
): KeyOrder | null {
  const lists = new Set<readonly string[]>()
  let members = 0
  for (const { keys } of rows) {
    lists.add(keys)
    members += keys.length
  }
  if (lists.size === 1) {
    // If all rows have the same keys, their order is known already.
    const names = rows[0]!.keys
    return hasTwice(names) ? null : { names, members }
  }
  // Most objects are no table, which their names show before these are put in order.
  if (!isUseful(countNames(lists), members)) return null
  const followers = new Map<string, Set<string>>()
  for (const keys of lists) {
    let last: Set<string> | undefined
    for (const key of keys) {
      last?.add(key)
      last = followers.get(key)
      if (last === undefined) {
        last = new Set()
        followers.set(key, last)
      }
    }
  }
  const names = sort(followers)
  return names === null ? null : { names, members }
}

function countNames(lists: ReadonlySet<readonly string[]>): number {
  const names = new Set<string>()
  for (const keys of lists) for (const key of keys) names.add(key)
  return names.size
}

/** Lists of fewer keys are compared key by key. */
const MANY_KEYS = 12

/** Whether a key is in the list more than once. */
export function hasTwice(keys: readonly string[]): boolean {
  if (keys.length >= MANY_KEYS) return new Set(keys).size !== keys.length
  for (let i = 1; i < keys.length; i++) if (keys.indexOf(keys[i]!) !== i) return true
  return false
}

/**
 * Finishing order, reversed. Later keys are visited first, so that the result stays near the
 * first-seen order.
 */
function sort(followers: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const done = new Set<string>()
  const open = new Set<string>()
  const finished: string[] = []
  for (const root of [...followers.keys()].reverse()) {
    if (done.has(root)) continue
    const path = [{ key: root, rest: followers.get(root)!.values() }]
    open.add(root)
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.rest.next()
      if (next.done === true) {
        open.delete(top.key)
        done.add(top.key)
        finished.push(top.key)
        path.pop()
      } else if (open.has(next.value)) return null
      else if (!done.has(next.value)) {
        open.add(next.value)
        path.push({ key: next.value, rest: followers.get(next.value)!.values() })
      }
    }
  }
  return finished.reverse()
}
