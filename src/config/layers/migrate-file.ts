import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'smol-toml'
import { NEWEST_SCHEMA } from '../../core/pipeline/profile/default-pipeline.ts'
import {
  type KeyPath,
  leavesOf,
  type Tree,
  valueAt,
  writeKey,
} from '../../core/pipeline/profile/key-path.ts'
import { lineOf } from '../toml-lines.ts'
import { parseLayer, parseToml } from './layer-file.ts'
import { SAVED_DEFAULTS } from './predecessor.ts'
import { completeLists, describeNote, type KeyNote, translateKeys } from './predecessor-keys.ts'

/** What became of a key, and the line of the file that it was read in. */
export interface MigratedKey {
  readonly line: number
  readonly key: string
  /** In words. */
  readonly fate: string
}

export interface Migrated {
  /** The file as this version writes it. */
  readonly text: string
  /** Every key of the file, in the order of its lines. */
  readonly keys: readonly MigratedKey[]
  /** What the new file switches off without naming it; a line each. */
  readonly warnings: readonly string[]
}

/**
 * A file of the predecessor, or of an earlier schema, in the words of this version. Nothing is
 * written.
 * @param options.keepsDefaults whether values stay that its `save` writes by itself
 * @throws ConfigError for a file with faults
 */
export function migrateFile(
  file: string,
  source: string,
  { keepsDefaults }: { readonly keepsDefaults: boolean },
): Migrated {
  // What is refused when it is loaded is not carried over.
  parseLayer(file, source, { name: 'file' })
  const before = parseToml(file, source)
  const { tree, notes } = translateKeys(before)
  const dropped = keepsDefaults ? [] : savedDefaultsIn(tree)
  const keys = leavesOf(before).map((path): MigratedKey => {
    const fate = fateOf(path, notes, dropped)
    return { line: lineOf(source, path), key: writeKey(path), fate }
  })
  const { schema_version: _, ...rest } = without(tree, dropped)
  const text = `${stringify({ schema_version: NEWEST_SCHEMA, ...rest })}\n`
  const { warnings } = parseLayer(file, text, { name: 'file' })
  return { text, keys: keys.toSorted((a, b) => a.line - b.line), warnings }
}

/** The paths whose values are those that the predecessor writes by itself. */
function savedDefaultsIn(tree: Tree): readonly KeyPath[] {
  const saved = parse(SAVED_DEFAULTS)
  const written = (path: KeyPath) => completeLists(valueAt(saved, path), path)
  // A variant of data is one choice.
  const paths = leavesOf(saved).map(path => (path[1] === 'data' ? path.slice(0, 4) : path))
  return paths.filter(path => isDeepStrictEqual(valueAt(tree, path), written(path)))
}

function fateOf(path: KeyPath, notes: readonly KeyNote[], dropped: readonly KeyPath[]): string {
  if (path.join() === 'schema_version') return `is ${NEWEST_SCHEMA}`
  const own = notes.filter(note => startsWith(path, note.path))
  const now = [...path]
  for (const { path: at, value, to } of own) {
    if (value === undefined && to !== undefined) now[at.length - 1] = to
  }
  if (dropped.some(each => startsWith(now, each))) {
    return "is left out: the predecessor's own default, which costs tokens here"
  }
  return own.map(describeNote).join('; ') || 'stays'
}

function startsWith(path: KeyPath, start: KeyPath): boolean {
  return start.every((part, at) => part === path[at])
}

/** The tree without these leaves, and without tables that are empty then. */
function without(tree: Tree, paths: readonly KeyPath[]): Tree {
  const entries = Object.entries(tree).flatMap(([name, value]) => {
    const inner = paths.filter(([first]) => first === name).map(path => path.slice(1))
    if (inner.length === 0) return [[name, value] as const]
    if (inner.some(path => path.length === 0)) return []
    const left = without(value as Tree, inner)
    return Object.keys(left).length === 0 ? [] : [[name, left] as const]
  })
  return Object.fromEntries(entries)
}
