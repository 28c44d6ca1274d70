import { isTable, type KeyPath, type Tree } from '../../core/pipeline/profile/key-path.ts'

/** A part of a dotted key: bare, or a basic string of TOML. */
const PART = /(?:([A-Za-z0-9_-]+)|("(?:[^"\\]|\\.)*"))(\.|$)/y

/** The path of a dotted key; `null` if it is none as `writeKey` writes it. */
export function readKey(text: string): KeyPath | null {
  const path: string[] = []
  let isMore = true
  PART.lastIndex = 0
  while (isMore) {
    const [whole, bare, quoted, dot] = PART.exec(text) ?? []
    if (whole === undefined) return null
    const part = bare ?? unquoted(quoted ?? '')
    if (part === null) return null
    path.push(part)
    isMore = dot !== ''
    if (!isMore && PART.lastIndex !== text.length) return null
  }
  return path
}

function unquoted(text: string): string | null {
  try {
    return JSON.parse(text) as string
  } catch {
    return null
  }
}

/** A value of a configuration. */
export type ConfigValue = boolean | number | string | readonly string[]

/**
 * The table with another value at a path, or without one. Tables that are empty then are left out.
 * @param value `null` for none
 */
export function withValue(
  table: Tree,
  [part = '', ...rest]: KeyPath,
  value: ConfigValue | null,
): Tree {
  const entries = new Map(Object.entries(table))
  if (rest.length > 0) {
    const inner = entries.get(part)
    const next = withValue(isTable(inner) ? inner : {}, rest, value)
    if (Object.keys(next).length > 0) entries.set(part, next)
    else entries.delete(part)
  } else if (value === null) entries.delete(part)
  else entries.set(part, value)
  // A key such as `__proto__` becomes an entry like any other.
  return Object.fromEntries(entries)
}
