import { parseJson } from '../json/parse-json.ts'
import { equalValues, ObjectValue, type Value } from '../json/value.ts'
import { writeJson } from '../json/write-json.ts'

/** Members and items of the value that are looked at. */
const MOST_PARTS = 100_000
/** Comparisons of texts with parts of the value; what is not compared counts as unlike. */
const MOST_COMPARISONS = 1_000_000

/** What a structured value says, to tell which texts beside it say the same once more. */
export interface ShownValue {
  /** Whether a text is the value, a part of it, or one of its texts or scalars. */
  repeats(text: string): boolean
  /** The only text in the value: in objects of one member and lists of one item; `null`: none. */
  readonly onlyText: string | null
}

/** @param json of the value. @returns `null` if it cannot be read */
export function readShownValue(json: string): ShownValue | null {
  const parsed = parseJson(json)
  if (!parsed.ok) return null
  const { value } = parsed
  const texts = new Set<string>()
  /** By the number of members, which differs for most. */
  const containers = new Map<number, Value[]>()
  const pending: Value[] = [value]
  let parts = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (++parts > MOST_PARTS) break
    const inner = partsOf(next)
    if (inner === null) {
      texts.add(typeof next === 'string' ? next : writeJson(next))
      continue
    }
    const alike = containers.get(inner.length)
    if (alike === undefined) containers.set(inner.length, [next])
    else alike.push(next)
    for (const each of inner) pending.push(each)
  }
  let comparisons = 0
  return {
    repeats(text) {
      if (texts.has(text)) return true
      const own = parseJson(text)
      const inner = own.ok ? partsOf(own.value) : null
      if (inner === null || !own.ok) return false
      for (const each of containers.get(inner.length) ?? []) {
        if (comparisons++ > MOST_COMPARISONS) return false
        if (equalValues(each, own.value)) return true
      }
      return false
    },
    onlyText: onlyTextOf(value),
  }
}

function partsOf(value: Value): readonly Value[] | null {
  if (value instanceof ObjectValue) return value.values
  return Array.isArray(value) ? (value as readonly Value[]) : null
}

function onlyTextOf(value: Value): string | null {
  let inner = value
  for (;;) {
    if (typeof inner === 'string') return inner
    const parts = partsOf(inner)
    if (parts?.length !== 1) return null
    inner = parts[0] as Value
  }
}
