import { parseJson } from '../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { rankItems } from './rank-items.ts'
import { raise, STRUCTURE } from './reducer.ts'

/** Share of the lines that must be JSON objects. */
const JSON_SHARE = 0.9
const DEEPEST = 64

/**
 * Whether nearly every line looks like a JSON object; whether it is one is only seen when it is
 * parsed.
 */
export function isJsonLines(lines: readonly string[]): boolean {
  let filled = 0
  let objects = 0
  for (const line of lines) {
    if (line.trim() === '') continue
    filled++
    if (line.startsWith('{') && /\}\s*$/.test(line.slice(-4))) objects++
  }
  return objects > 0 && objects >= filled * JSON_SHARE
}

/**
 * Ranks of lines that are JSON objects, as items of a list; others are structure. Returns `null` if
 * too many lines are no objects.
 */
export function rankJsonLines(lines: readonly string[]): Uint8Array | null {
  if (!isJsonLines(lines)) return null
  const items: Value[] = []
  const places: number[] = []
  const ranks = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.trim() === '') return
    const parsed = parseJson(line, { maxDepth: DEEPEST })
    if (parsed.ok && parsed.value instanceof ObjectValue) {
      items.push(parsed.value)
      places.push(at)
    } else raise(ranks, at, at + 1, STRUCTURE)
  })
  if (items.length < (items.length + ranks.filter(Boolean).length) * JSON_SHARE) return null
  rankItems(items).forEach((rank, index) => {
    ranks[places[index]!] = rank
  })
  return ranks
}
