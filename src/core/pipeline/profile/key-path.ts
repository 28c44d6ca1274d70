/** The path of a key in `pipeline_config.toml`, a part each. */
export type KeyPath = readonly string[]

/** A table of a configuration, as a parser gives it. */
export type Tree = Readonly<Record<string, unknown>>

const BARE = /^[A-Za-z0-9_-]+$/

/** As TOML writes it: `endpoint_overrides."a.b".lru_size`. */
export function writeKey(path: readonly PropertyKey[]): string {
  const parts = path.map(String)
  return parts.map(part => (BARE.test(part) ? part : JSON.stringify(part))).join('.')
}

export function isTable(value: unknown): value is Tree {
  if (typeof value !== 'object' || value === null) return false
  return !Array.isArray(value) && !(value instanceof Date)
}

/** The value at a path; `undefined` if there is none. */
export function valueAt(tree: Tree, path: readonly PropertyKey[]): unknown {
  let value: unknown = tree
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<PropertyKey, unknown>)[part]
  }
  return value
}

/** Whether a path begins with these parts; `*` is any part. */
export function startsWith(path: KeyPath, start: KeyPath): boolean {
  return start.every((part, at) => part === '*' || part === path[at])
}

/** The paths of all values that are no tables, in the order of the tree. */
export function leavesOf(tree: Tree, before: KeyPath = []): readonly KeyPath[] {
  return Object.entries(tree).flatMap(([name, value]) => {
    const path = [...before, name]
    return isTable(value) ? leavesOf(value, path) : [path]
  })
}

/** The record's own entry, for names that clients choose: `constructor` is no entry of `{}`. */
export function own<T>(
  record: Readonly<Record<string, T>>,
  key: string | undefined,
): T | undefined {
  return key !== undefined && Object.hasOwn(record, key) ? record[key] : undefined
}
