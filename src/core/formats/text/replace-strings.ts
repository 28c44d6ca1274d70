import { ObjectValue, type Value } from '../../json/value.ts'
import { notDecodable } from '../not-decodable.ts'

/** Deeper values are not written with texts below them, so none is read either. */
export const MAX_DEPTH = 250

/**
 * The value with each string, in the order of the document, replaced by what `replace` returns.
 * Keys stay as they are, and so do values without such strings, which are not copied.
 * @throws AppError `not_decodable` for a value that is nested too deep
 */
export function replaceStrings(
  value: Value,
  replace: (text: string) => string,
  depth = MAX_DEPTH,
): Value {
  if (typeof value === 'string') return replace(value)
  const isObject = value instanceof ObjectValue
  if (!isObject && !Array.isArray(value)) return value
  if (depth === 0) throw notDecodable('', 0, `JSON of at most ${MAX_DEPTH} levels expected`)
  const members = isObject ? value.values : value
  let replaced: Value[] | undefined
  for (let at = 0; at < members.length; at++) {
    const other = replaceStrings(members[at]!, replace, depth - 1)
    if (other === members[at]) continue
    replaced ??= [...members]
    replaced[at] = other
  }
  if (replaced === undefined) return value
  return isObject ? new ObjectValue(value.keys, replaced) : replaced
}
