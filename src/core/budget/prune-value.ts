import { ObjectValue, type Value } from '../value/value.ts'
import { cutText } from './cuts.ts'
import type { Kept } from './priced-node.ts'

/** What was left out at one kind of place, for example of every item's `body`. */
export interface Omission {
  /** JSON path of the place, `.*` for any item; for texts `lines 40-80`. */
  readonly at: string
  readonly unit: 'items' | 'fields' | 'texts' | 'lines'
  omitted: number
  /** How many there were there; absent for what is one at each place. */
  readonly of?: number
}

/** The part of `value` that is kept, and what was left out by place, in the order of the document. */
export function pruneValue(
  value: Value,
  kept: Kept,
): { readonly value: Value; readonly omissions: readonly Omission[] } {
  const omissions = new Map<string, Omission>()

  function note(at: string, unit: Omission['unit'], omitted: number, of?: number): void {
    const id = `${unit} ${at}`
    const known = omissions.get(id)
    if (known !== undefined) known.omitted += omitted
    else omissions.set(id, { at, unit, omitted, ...(of === undefined ? {} : { of }) })
  }

  function prune(inner: Value, part: Kept, at: string): Value {
    if (part.kind === 'all') return inner
    if (part.kind === 'cut') {
      note(at, 'texts', 1)
      return cutText(inner as string, part.chars)
    }
    if (inner instanceof ObjectValue) return pruneObject(inner, part.children, at)
    const items = inner as readonly Value[]
    const rest: Value[] = []
    const missing: number[] = []
    part.children.forEach((child, index) => {
      if (child === null) missing.push(index)
      else rest.push(prune(items[index]!, child, at + ANY_ITEM))
    })
    if (missing.length > 0) noteItems(at, missing, items.length)
    return rest
  }

  /** A list that is one of many like it is counted with them. */
  function noteItems(at: string, missing: readonly number[], of: number): void {
    if (at.includes(ANY_ITEM)) note(at, 'items', missing.length)
    else note(at + rangeOf(missing), 'items', missing.length, of)
  }

  function pruneObject(inner: ObjectValue, parts: readonly (Kept | null)[], at: string): Value {
    const keys: string[] = []
    const values: Value[] = []
    parts.forEach((part, index) => {
      const key = inner.keys[index]!
      const path = at + stepOf(key)
      if (part === null) note(path, 'fields', 1)
      else {
        keys.push(key)
        values.push(prune(inner.values[index]!, part, path))
      }
    })
    return new ObjectValue(keys, values)
  }

  return { value: prune(value, kept, '$'), omissions: [...omissions.values()] }
}

const ANY_ITEM = '.*'

/** `[20:200]` where items are missing in one run, which `?path=` then gives back; else nothing. */
function rangeOf(missing: readonly number[]): string {
  const first = missing[0]!
  const last = missing.at(-1)!
  return last - first + 1 === missing.length ? `[${first}:${last + 1}]` : ''
}

/** One step of a JSON path (RFC 9535). */
function stepOf(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}
