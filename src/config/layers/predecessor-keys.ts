import { HINT_FAMILIES } from '../../core/hints/hint.ts'
import { FORMAT_IDS } from '../../core/pipeline/profile/format-ids.ts'
import { isTable, type KeyPath, type Tree } from '../../core/pipeline/profile/key-path.ts'
import { PREDECESSOR } from './predecessor.ts'

/** A key that is named or written otherwise here. */
export interface KeyNote {
  readonly path: KeyPath
  /** The value, if that is renamed and not the key. */
  readonly value?: string
  /** Its name here; `undefined` for one that is left out. */
  readonly to?: string
  /** In words. */
  readonly fate: string
}

interface Row {
  /** The place of a key with the key, or that of the text. */
  readonly at: KeyPath
  readonly text?: string
  readonly to?: string
  readonly fate: string
}

const ROW = /^(\S+)(?: = (\S+))? (?:-> \[(.+)\]|-> (.+)|- (.+))$/

const ROWS = PREDECESSOR.trim().split('\n').map(readRow)

function readRow(line: string): Row {
  const [, at = '', text, section, to, why] = ROW.exec(line) ?? []
  const elsewhere = "belongs in the service's own configuration (HAVERSACK_CONFIG)"
  const fate =
    (section && `${elsewhere}, section [${section}]`) ??
    (to && `is called ${JSON.stringify(to)} here`) ??
    `has no effect here: ${why}`
  return { at: at.split('.'), ...(text && { text }), ...(to && { to }), fate }
}

/** Lists that switch off what they do not name, and what the predecessor could name in them. */
const LISTS: readonly { readonly at: KeyPath; readonly all: readonly string[]; known: string[] }[] =
  [
    {
      at: ['mckp', 'formats_enabled'],
      all: FORMAT_IDS,
      known: ['md', 'tree', 'csv', 'json_compact'],
    },
    {
      at: ['profiles', 'data', 'variants', '*', 'hint_set'],
      all: HINT_FAMILIES,
      known: ['near_reference', 'format'],
    },
  ]

/** A file's tree in the words of this version. */
export interface Translated {
  readonly tree: Tree
  readonly notes: readonly KeyNote[]
}

/** Names each key as this version does, and leaves out what has no effect here. */
export function translateKeys(tree: Tree): Translated {
  const notes: KeyNote[] = []
  const own = translated(tree, [], notes) as Tree
  // A file without a word of the predecessor's may be one of this version.
  return { tree: notes.length === 0 ? own : (completeLists(own, []) as Tree), notes }
}

/** With all that the predecessor did not have, since no list of its file can have left it out. */
export function completeLists(value: unknown, path: KeyPath): unknown {
  if (Array.isArray(value)) {
    const list = LISTS.find(({ at }) => fits(at, path))
    if (list === undefined) return value
    return [...new Set([...value, ...list.all.filter(id => !list.known.includes(id))])]
  }
  if (!isTable(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, completeLists(inner, [...path, name])]),
  )
}

function translated(value: unknown, path: KeyPath, notes: KeyNote[]): unknown {
  if (typeof value === 'string') return translatedText(value, path, notes)
  if (Array.isArray(value)) {
    const all = value.map(each => {
      return typeof each === 'string' ? translatedText(each, path, notes) : each
    })
    const isKnown = ROWS.some(row => row.text !== undefined && fits(row.at, path))
    // `deep_mckp` and `kv` are one format here.
    return isKnown ? [...new Set(all.filter(each => each !== undefined))] : all
  }
  if (!isTable(value)) return value
  const entries = new Map<string, unknown>()
  for (const [name, inner] of Object.entries(value)) {
    const at = [...path, name]
    const row = ROWS.find(each => each.text === undefined && fits(each.at, at))
    if (row !== undefined) notes.push({ path: at, ...withName(row), fate: row.fate })
    // The name of this version takes precedence over the predecessor's.
    if (row !== undefined && (row.to === undefined || Object.hasOwn(value, row.to))) continue
    const next = translated(inner, at, notes)
    if (next !== undefined) entries.set(row?.to ?? name, next)
  }
  return Object.fromEntries(entries)
}

function translatedText(text: string, path: KeyPath, notes: KeyNote[]): string | undefined {
  const row = ROWS.find(each => each.text === text && fits(each.at, path))
  if (row === undefined) return text
  notes.push({ path, value: text, ...withName(row), fate: row.fate })
  return row.to
}

const withName = ({ to }: Row) => (to === undefined ? {} : { to })

function fits(at: KeyPath, path: KeyPath): boolean {
  return at.length === path.length && at.every((part, i) => part === '*' || part === path[i])
}

/** What a user should know of it, after the key's name. */
export function describeNote({ value, fate }: KeyNote): string {
  return value === undefined ? fate : `${JSON.stringify(value)} ${fate}`
}
