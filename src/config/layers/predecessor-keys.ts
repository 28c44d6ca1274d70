import { HINT_FAMILIES } from '../../core/hints/hint-policy.ts'
import { isTable, type KeyPath, type Tree } from '../../core/pipeline/profile/key-path.ts'
import { FORMAT_IDS } from '../../core/pipeline/profile/profile-axes.ts'

/** What became of a key of the predecessor's file. */
export type KeyFate =
  | { readonly kind: 'renamed'; readonly to: string }
  /** It belongs in the service's own configuration, under this name. */
  | { readonly kind: 'moved'; readonly to: string }
  | { readonly kind: 'dropped'; readonly why: string }

/** A key that is named or written otherwise here. */
export interface KeyNote {
  readonly path: KeyPath
  /** The value, if that is renamed and not the key. */
  readonly value?: string
  readonly fate: KeyFate
}

const renamed = (to: string): KeyFate => ({ kind: 'renamed', to })
const moved = (to: string): KeyFate => ({ kind: 'moved', to })
const dropped = (why: string): KeyFate => ({ kind: 'dropped', why })

const COUNTED = dropped('tokens are counted as docs/reference/tokens.md says; profiles only weigh')

const BY_NAME = dropped('an agent variant is set by name, so that a session does not change midway')

const TOKENIZERS: Fates = {
  openai_o200k: renamed('o200k_base'),
  openai_cl100k: renamed('cl100k_base'),
}

const FORMATS: Fates = {
  csv_from_md: renamed('md'),
  deep_mckp: renamed('tree'),
  kv: renamed('tree'),
  toon: dropped('TOON is none of the formats here, since it never wins'),
}

/** `csv_from_md` is a template there, which has that name here too. */
const { csv_from_md: _, ...FORMATS_OF_DATA } = FORMATS

const HINTS: Fates = {
  near_ref: renamed('near_reference'),
  inline_format_hint: renamed('format'),
  timestamp_ref: dropped('a near reference says what changed, times too'),
  delta: dropped('a near reference says what changed'),
  schema_explainer: dropped('each format is written so that a model reads it without'),
}

type Fates = Readonly<Record<string, KeyFate>>

/** A place in the file: `*` is any name. */
interface KnownPath {
  readonly at: readonly string[]
  readonly keys?: Fates
  /** What becomes of the text there, or of each text of the list. */
  readonly values?: Fates
}

/** Everything that the predecessor's file has and this one has not. The rest is the same. */
const PREDECESSOR_PLACES: readonly KnownPath[] = [
  {
    at: [],
    keys: {
      telemetry: moved('telemetry'),
      tools: moved('tools'),
      enrichment: moved('enrichment'),
    },
  },
  { at: ['mckp', 'formats_enabled'], values: FORMATS },
  { at: ['profiles', 'tokenizer', 'active'], values: TOKENIZERS },
  { at: ['profiles', 'tokenizer', 'variants'], keys: TOKENIZERS },
  {
    at: ['profiles', 'tokenizer', 'variants', '*'],
    keys: {
      toon_overhead: dropped('TOON is none of the formats here, since it never wins'),
      chars_per_token: COUNTED,
      bpe: COUNTED,
      format_factors: dropped('formats are compared by counted tokens'),
    },
  },
  { at: ['profiles', 'llm', 'variants', '*', 'tokenizer'], values: TOKENIZERS },
  {
    at: ['profiles', 'agent'],
    keys: { auto_detect_window: BY_NAME },
  },
  {
    at: ['profiles', 'agent', 'variants', '*'],
    keys: {
      priority: dropped('choices take no time that could be saved; set recursion_depth'),
      hint_aggressiveness: dropped('a hint is sent if it saves; set hints.types'),
      mckp_recursion_depth: renamed('recursion_depth'),
    },
  },
  { at: ['profiles', 'data', 'variants', '*', 'preferred_format'], values: FORMATS_OF_DATA },
  { at: ['profiles', 'data', 'variants', '*', 'hint_set'], values: HINTS },
  { at: ['hints'], keys: { default_verbosity: dropped('dedup.hint_verbosity is for all hints') } },
  { at: ['hints', 'types'], keys: HINTS },
]

/** What the predecessor could name in its lists, in the words of this version. */
const KNOWN_FORMATS = ['md', 'tree', 'csv', 'json_compact']
const KNOWN_HINTS: readonly string[] = ['near_reference', 'format']

/** Lists that switch off what they do not name, and what the predecessor did not have of it. */
const LISTS: readonly { readonly at: KeyPath; readonly later: readonly string[] }[] = [
  {
    at: ['mckp', 'formats_enabled'],
    later: FORMAT_IDS.filter(id => !KNOWN_FORMATS.includes(id)),
  },
  {
    at: ['profiles', 'data', 'variants', '*', 'hint_set'],
    later: HINT_FAMILIES.filter(family => !KNOWN_HINTS.includes(family)),
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
    return list === undefined ? value : [...new Set([...value, ...list.later])]
  }
  if (!isTable(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, completeLists(inner, [...path, name])]),
  )
}

function translated(value: unknown, path: KeyPath, notes: KeyNote[]): unknown {
  const { keys = {}, values = {} } = placeOf(path)
  if (typeof value === 'string') return textIn(value, values, path, notes)
  if (Array.isArray(value)) {
    const all = value.map(each => {
      return typeof each === 'string' ? textIn(each, values, path, notes) : each
    })
    // `deep_mckp` and `kv` are one format here.
    return Object.keys(values).length === 0 ? all : [...new Set(all.filter(isKept))]
  }
  if (!isTable(value)) return value
  const entries = new Map<string, unknown>()
  for (const [name, inner] of Object.entries(value)) {
    const fate = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (fate !== undefined) notes.push({ path: [...path, name], fate })
    if (fate !== undefined && fate.kind !== 'renamed') continue
    const to = fate?.to ?? name
    // The name of this version takes precedence over the predecessor's.
    if (fate !== undefined && Object.hasOwn(value, to)) continue
    const next = translated(inner, [...path, name], notes)
    if (isKept(next)) entries.set(to, next)
  }
  return Object.fromEntries(entries)
}

const isKept = (value: unknown) => value !== undefined

function textIn(text: string, values: Fates, path: KeyPath, notes: KeyNote[]): string | undefined {
  const fate = Object.hasOwn(values, text) ? values[text] : undefined
  if (fate === undefined) return text
  notes.push({ path, value: text, fate })
  return fate.kind === 'renamed' ? fate.to : undefined
}

function placeOf(path: KeyPath): KnownPath {
  const found = PREDECESSOR_PLACES.filter(({ at }) => fits(at, path))
  return found.reduce<KnownPath>((place, each) => Object.assign(place, each), { at: path })
}

function fits(at: readonly string[], path: KeyPath): boolean {
  return at.length === path.length && at.every((part, i) => part === '*' || part === path[i])
}

/** What a user should know of it, after the key's name. */
export function describeNote({ value, fate }: KeyNote): string {
  const what = value === undefined ? '' : `${JSON.stringify(value)} `
  switch (fate.kind) {
    case 'renamed':
      return `${what}is called ${JSON.stringify(fate.to)} here`
    case 'moved':
      return `belongs in the service's own configuration (HAVERSACK_CONFIG), section [${fate.to}]`
    case 'dropped':
      return `${what}has no effect here: ${fate.why}`
  }
}
