import { NumberLiteral, ObjectValue, type Value } from './value.ts'
import { quoteJson } from './write-json.ts'

/** Keys remembered with their length; more would cost memory where keys do not repeat. */
const MAX_MEASURED_KEYS = 1024

/**
 * UTF-16 code units that `writeJson` would write, counted without writing them. Where the length is
 * above `limit`, it stops there and gives some number above `limit`: values share their keys, so
 * the text may be longer than memory by far although the value is small. Linear, and without
 * recursion.
 */
export function jsonLength(value: Value, limit: number): number {
  const keyLengths = new Map<string, number>()
  const pending: (readonly Value[])[] = [[value]]
  let length = 0
  for (let values = pending.pop(); values !== undefined; values = pending.pop()) {
    for (const member of values) {
      if (member instanceof ObjectValue) {
        // A colon is written with each key.
        length += containerLength(member.values) + member.keys.length
        for (const key of member.keys) {
          length += keyLength(key, keyLengths)
          if (length > limit) return length
        }
        pending.push(member.values)
      } else if (Array.isArray(member)) {
        length += containerLength(member)
        pending.push(member)
      } else length += scalarLength(member as Exclude<Value, ObjectValue | readonly Value[]>)
      if (length > limit) return length
    }
  }
  return length
}

/** Both brackets and the commas between the members. */
function containerLength(members: readonly Value[]): number {
  return 2 + Math.max(0, members.length - 1)
}

function scalarLength(value: Exclude<Value, ObjectValue | readonly Value[]>): number {
  if (typeof value === 'string') return quoteJson(value).length
  return value instanceof NumberLiteral ? value.text.length : String(value).length
}

function keyLength(key: string, known: Map<string, number>): number {
  let length = known.get(key)
  if (length === undefined) {
    length = quoteJson(key).length
    if (known.size < MAX_MEASURED_KEYS) known.set(key, length)
  }
  return length
}
