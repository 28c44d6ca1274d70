import { NumberLiteral, ObjectValue, type Value } from './value.ts'

/**
 * Whether two values are exactly the same: types, order of keys, duplicates, spelling of numbers,
 * strings by code units. Linear, and without recursion.
 */
export function equalValues(a: Value, b: Value): boolean {
  const pending: [readonly Value[], readonly Value[]][] = [[[a], [b]]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [left, right] = pair
    if (left.length !== right.length) return false
    for (let i = 0; i < left.length; i++) {
      const one = left[i]!
      const other = right[i]!
      if (one === other) continue
      if (one instanceof ObjectValue) {
        if (!(other instanceof ObjectValue) || !equalKeys(one.keys, other.keys)) return false
        pending.push([one.values, other.values])
      } else if (Array.isArray(one)) {
        if (!Array.isArray(other)) return false
        pending.push([one, other])
      } else if (!(one instanceof NumberLiteral && other instanceof NumberLiteral)) return false
      else if (one.text !== other.text) return false
    }
  }
  return true
}

function equalKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
