import { stringify } from 'smol-toml'
import {
  type KeyPath,
  leavesOf,
  type Tree,
  valueAt,
  writeKey,
} from '../../core/pipeline/profile/key-path.ts'
import { NEWEST_SCHEMA } from '../../core/pipeline/profile/pipeline-config.ts'
import { lineOf } from '../toml-lines.ts'
import { parseLayer, parseToml } from './layer-file.ts'
import { describeNote, translateKeys } from './predecessor-keys.ts'

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
}

/**
 * Defaults of the predecessor, which its `save` writes into each file. Here they cost tokens
 * (docs/reference/profiles.md), and most likely no person chose them.
 */
const DEFAULTS: readonly (readonly [path: string, value: unknown])[] = [
  ['dedup.lru_size', 5],
  ['mckp.recursion_depth', 5],
  ['mckp.shape_thresholds.markdown_table_min_cols', 2],
  ['mckp.shape_thresholds.array_of_objects_min_items', 4],
  ['mckp.shape_thresholds.array_of_objects_min_key_stability', 0.7],
  ['mckp.shape_thresholds.flat_object_min_fields', 8],
]

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
  const byDefault = keepsDefaults ? [] : DEFAULTS.filter(([key, value]) => has(tree, key, value))
  const dropped = new Set(byDefault.map(([key]) => key))
  const renamed = new Map<string, string[]>()
  for (const note of notes) {
    const key = writeKey(note.path)
    renamed.set(key, [...(renamed.get(key) ?? []), describeNote(note)])
  }
  const keys = leavesOf(before).map((path): MigratedKey => {
    const key = writeKey(path)
    const line = lineOf(source, path)
    if (key === 'schema_version') return { line, key, fate: `is ${NEWEST_SCHEMA}` }
    if (dropped.has(key)) return { line, key, fate: DEFAULT_FATE }
    const fates = path.flatMap((_, at) => renamed.get(writeKey(path.slice(0, at + 1))) ?? [])
    return { line, key, fate: fates.join('; ') || 'stays' }
  })
  const { schema_version: _, ...rest } = without(tree, [...dropped].map(key => key.split('.')))
  return {
    text: `${stringify({ schema_version: NEWEST_SCHEMA, ...rest })}\n`,
    keys: keys.toSorted((a, b) => a.line - b.line),
  }
}

const DEFAULT_FATE = "is left out: the predecessor's own default, which costs tokens here"

function has(tree: Tree, key: string, value: unknown): boolean {
  return valueAt(tree, key.split('.')) === value
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
