import { HINT_FAMILIES } from '../../core/hints/hint.ts'
import { FORMAT_IDS } from '../../core/pipeline/profile/format-ids.ts'
import {
  isTable,
  type KeyPath,
  startsWith,
  type Tree,
  valueAt,
} from '../../core/pipeline/profile/key-path.ts'
import { PREDECESSOR } from './predecessor.ts'

/** A value of a file, with its name and words in this version. */
export interface TranslatedKey {
  /** Its path in the file. */
  readonly from: KeyPath
  /** Its path here; that of its table, with an empty table as the value, if it is left out. */
  readonly path: KeyPath
  readonly value: unknown
  /** What became of a part of its path, or of a word of its value. */
  readonly notes: readonly { readonly path: KeyPath; readonly text: string }[]
}

const ROWS = [...PREDECESSOR.matchAll(/^(.*): (\S+) (?:-> \[(.+)\]|-> (.+)|- (.+))$/gm)].map(
  ([, places = '', word, section, to, why]) => {
    const elsewhere = "belongs in the service's own configuration (HAVERSACK_CONFIG)"
    const fate =
      (section && `${elsewhere}, section [${section}]`) ??
      (to && `is called ${JSON.stringify(to)} here`) ??
      `has no effect here: ${why}`
    return { places: places.split(' ').map(partsOf), word, to, fate }
  },
)

/** Lists that switch off what they do not name, and what the predecessor could name in them. */
const LISTS: readonly (readonly [place: KeyPath, all: readonly string[]])[] = [
  [partsOf('mckp.formats_enabled'), FORMAT_IDS],
  [partsOf('profiles.data.variants.*.hint_set'), HINT_FAMILIES],
]
const KNOWN = ['md', 'tree', 'csv', 'json_compact', 'near_reference', 'format']

function partsOf(place: string): KeyPath {
  return place === '' ? [] : place.split('.')
}

/** Names each key as this version does, and leaves out what has no effect here. */
export function translateKeys(tree: Tree): readonly TranslatedKey[] {
  const keys = entriesOf(tree, []).map(([path, value]) => translateKey(tree, path, value))
  // A file without a word of the predecessor's may be one of this version.
  if (keys.every(({ notes }) => notes.length === 0)) return keys
  return keys.map(key => {
    const [, all] = LISTS.find(([place]) => fits(place, key.path)) ?? []
    if (all === undefined || !Array.isArray(key.value)) return key
    // `deep_mckp` and `kv` are one format here.
    const value = new Set([...key.value, ...all.filter(each => !KNOWN.includes(each))])
    return { ...key, value: [...value] }
  })
}

function translateKey(tree: Tree, from: KeyPath, value: unknown): TranslatedKey {
  const path = [...from]
  const notes: { path: KeyPath; text: string }[] = []
  for (const [index, name] of from.entries()) {
    const table = from.slice(0, index)
    const row = rowOf(table, name)
    if (row === undefined) continue
    notes.push({ path: [...table, name], text: row.fate })
    // The name of this version takes precedence over the predecessor's.
    if (row.to === undefined || valueAt(tree, [...table, row.to]) !== undefined) {
      return { from, path: path.slice(0, index), value: {}, notes }
    }
    path[index] = row.to
  }
  const words = [value].flat().flatMap(word => {
    const row = rowOf(from, word)
    if (row === undefined) return [word]
    notes.push({ path: from, text: `${JSON.stringify(word)} ${row.fate}` })
    return row.to === undefined ? [] : [row.to]
  })
  if (Array.isArray(value)) return { from, path, value: words, notes }
  if (words.length === 0) return { from, path: path.slice(0, -1), value: {}, notes }
  return { from, path, value: words[0], notes }
}

/** The row of a word: a key of the table at a place, its value, or in its list. */
function rowOf(place: KeyPath, word: unknown) {
  return ROWS.find(row => row.word === word && row.places.some(each => fits(each, place)))
}

function fits(place: KeyPath, path: KeyPath): boolean {
  return place.length === path.length && startsWith(path, place)
}

/** The values that are no tables, and tables that are empty. */
function entriesOf(value: unknown, path: KeyPath): readonly (readonly [KeyPath, unknown])[] {
  const inner = isTable(value) ? Object.entries(value) : []
  if (inner.length === 0) return path.length === 0 ? [] : [[path, value]]
  return inner.flatMap(([name, each]) => entriesOf(each, [...path, name]))
}

/** The table that has these keys. */
export function treeOf(keys: readonly Pick<TranslatedKey, 'path' | 'value'>[]): Tree {
  const inner = Map.groupBy(keys, ({ path }) => path[0])
  inner.delete(undefined)
  const entries = [...inner].map(([name, its]) => {
    const below = its.map(({ path, value }) => ({ path: path.slice(1), value }))
    const isValue = below.every(({ path }) => path.length === 0)
    return [name, isValue ? below[0]?.value : treeOf(below)]
  })
  return Object.fromEntries(entries)
}
