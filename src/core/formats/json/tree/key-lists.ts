import { ObjectValue, type Value } from '../../../json/value.ts'
import { hasTwice, mergeKeyOrders } from './key-order.ts'

/** Objects with one list of keys. */
export interface KeyList {
  readonly keys: readonly string[]
  readonly objects: ObjectValue[]
}

/** With fewer keys a shape saves hardly anything; with more, its cells cannot be told apart. */
const FEWEST_KEYS = 2
const MOST_KEYS = 200

/** Lists of keys that are looked at, those with the most keys in the document first. */
const MOST_LISTS = 256

/**
 * The objects of a value by their lists of keys, those that may save the most first. Lists of one
 * key, or of very many, are left out. Returns none if no two objects have the same, because a shape
 * begins with such a list. Linear, and without recursion.
 */
export function collectKeyLists(value: Value): readonly KeyList[] {
  const byIdentity = new Map<readonly string[], ObjectValue[]>()
  const open: (readonly Value[])[] = [[value]]
  for (let level = open.pop(); level !== undefined; level = open.pop()) {
    for (const member of level) {
      if (member instanceof ObjectValue) {
        if (member.keys.length >= FEWEST_KEYS && member.keys.length <= MOST_KEYS) {
          const known = byIdentity.get(member.keys)
          if (known === undefined) byIdentity.set(member.keys, [member])
          else known.push(member)
        }
        if (member.values.length > 0) open.push(member.values)
      } else if (Array.isArray(member) && member.length > 0) open.push(member)
    }
  }
  return mergeEqual(byIdentity)
}

/** A parser that knows the keys of the object before gives equal lists one identity, not always. */
function mergeEqual(lists: ReadonlyMap<readonly string[], ObjectValue[]>): readonly KeyList[] {
  const lengths = new Map<number, number>()
  for (const { length } of lists.keys()) lengths.set(length, (lengths.get(length) ?? 0) + 1)
  const byName = new Map<string | number, KeyList>()
  for (const [keys, objects] of lists) {
    // Most lists need no name, since no other is as long.
    const name = lengths.get(keys.length) === 1 ? keys.length : JSON.stringify(keys)
    const known = byName.get(name)
    if (known === undefined) byName.set(name, { keys, objects })
    else for (const object of objects) known.objects.push(object)
  }
  const weigh = ({ keys, objects }: KeyList): number => keys.length * (objects.length - 1)
  const merged = [...byName.values()]
  if (merged.every(({ objects }) => objects.length < 2)) return []
  return merged
    .filter(({ keys }) => !hasTwice(keys))
    .sort((a, b) => weigh(b) - weigh(a))
    .slice(0, MOST_LISTS)
}

/** Lists of keys that one shape can represent, with cells left empty for keys that are missing. */
export interface Family {
  readonly names: ReadonlySet<string>
  readonly lists: readonly KeyList[]
  /** Objects of all lists. */
  readonly count: number
}

/** Tokens of an empty cell, of a declared key, and of a declaration without keys: estimates. */
const EMPTY_CELL = 0.5
const DECLARED_KEY = 2.5
const DECLARATION = 4

/** Families of more than one object, at most so many. */
export function joinKeyLists(lists: readonly KeyList[], most: number): readonly Family[] {
  const families: Family[] = []
  for (const list of lists) {
    const count = list.objects.length
    const at = families.findIndex(family => canJoin(family, list))
    const family = families[at]
    if (family !== undefined) {
      families[at] = {
        names: new Set([...family.names, ...list.keys]),
        lists: [...family.lists, list],
        count: family.count + count,
      }
    } else if (count > 1 && families.length < most) {
      families.push({ names: new Set(list.keys), lists: [list], count })
    }
  }
  return families
}

/** Whether empty cells cost less than a declaration, and the orders of keys agree. */
function canJoin({ names, lists, count }: Family, { keys, objects }: KeyList): boolean {
  let shared = 0
  for (const key of keys) if (names.has(key)) shared++
  if (2 * shared < Math.max(keys.length, names.size)) return false
  const empty = count * (keys.length - shared) + objects.length * (names.size - shared)
  if (empty * EMPTY_CELL > keys.length * DECLARED_KEY + DECLARATION) return false
  return mergeKeyOrders([objects[0]!, ...lists.map(list => list.objects[0]!)]) !== null
}
