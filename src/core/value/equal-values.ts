import { NumberLiteral, ObjectValue, type Value } from './value.ts'

/**
 * Whether two values are exactly the same: types, order of keys, duplicates, spelling of numbers, strings
 * by code units. Linear; recurses once a level of nesting (see `DEFAULT_MAX_DEPTH`).
 */
export function equalValues(a: Value, b: Value): boolean {
  if (a === b) return true
  if (a instanceof ObjectValue) {
    return b instanceof ObjectValue && equalKeys(a.keys, b.keys) && equalLists(a.values, b.values)
  }
  if (a instanceof NumberLiteral) return b instanceof NumberLiteral && a.text === b.text
  return Array.isArray(a) && Array.isArray(b) && equalLists(a, b)
}

function equalLists(a: readonly Value[], b: readonly Value[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!equalValues(a[i]!, b[i]!)) return false
  return true
}

function equalKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
