import { parse } from 'smol-toml'
import { z } from 'zod'
import { isTable, type KeyPath, type Tree, writeKey } from '../../core/pipeline/profile/key-path.ts'

/** The path of a dotted key; `null` if it is none as `writeKey` writes it. */
export function readKey(text: string): KeyPath | null {
  let value: unknown
  try {
    value = parse(`${text}=0`)
  } catch {
    return null
  }
  const path: string[] = []
  while (isTable(value)) {
    const [part = '', ...more] = Object.keys(value)
    if (more.length > 0) return null
    path.push(part)
    value = value[part]
  }
  return writeKey(path) === text ? path : null
}

/** A value of a configuration. */
export const configValue = z.union([
  z.boolean(),
  z.number(),
  z.string(),
  z.array(z.string()).readonly(),
])

export type ConfigValue = z.output<typeof configValue>

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
