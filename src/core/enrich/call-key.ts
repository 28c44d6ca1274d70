import { NumberLiteral, ObjectValue, type Value } from '../json/value.ts'
import { quoteJson } from '../json/write-json.ts'

/** Levels of nesting in arguments that are compared. Calls with deeper ones are never the same. */
const MAX_DEPTH = 64

/**
 * Arguments as one text that is equal for equal calls: keys sorted by code units, numbers in their
 * own spelling, so that `1`, `1.0` and 12345678901234567890 stay three calls. Of duplicate keys the
 * order stays. Returns `null` for arguments that are nested deeper than 64 levels.
 */
export function canonicalArguments(args: Value, depth = MAX_DEPTH): string | null {
  if (typeof args === 'string') return quoteJson(args)
  if (args instanceof NumberLiteral) return args.text
  const isObject = args instanceof ObjectValue
  if (!isObject && !Array.isArray(args)) return String(args)
  if (depth === 0) return null
  const values: readonly Value[] = isObject ? args.values : args
  const parts: string[] = []
  for (const at of isObject ? sortedIndices(args.keys) : values.keys()) {
    const inner = canonicalArguments(values[at]!, depth - 1)
    if (inner === null) return null
    parts.push(isObject ? `${quoteJson(args.keys[at]!)}:${inner}` : inner)
  }
  return isObject ? `{${parts.join(',')}}` : `[${parts.join(',')}]`
}

/** `sort` is stable, so that duplicates keep their order. */
function sortedIndices(keys: readonly string[]): readonly number[] {
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return keys.map((_, at) => at).sort((a, b) => order(keys[a]!, keys[b]!))
}

/** A tool with the `canonicalArguments` of a call, as one text. */
export function callKey(server: string, tool: string, args: string): string {
  return `${quoteJson(server)},${quoteJson(tool)}${args}`
}
