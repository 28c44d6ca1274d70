import { parseJson } from '../json/parse-json.ts'
import { isNonFinite, NumberLiteral, ObjectValue, type Value } from '../json/value.ts'
import { pathsOf } from './result-paths.ts'

/** A trigger's result, read once for all of its links. */
export interface TriggerResult {
  readonly text: string
  /** The value, if the text is JSON. */
  readonly json: Value | undefined
}

/** Values that a result lists under a key. */
export interface ListedValues {
  /** The first ones, each once, in the order of the result. */
  readonly values: readonly Value[]
  /** How many different ones there are, counted up to 1,000. */
  readonly count: number
}

/** Longest JSON text that is parsed for its values; of other texts so much is read. */
const MAX_TEXT = 4 * 1024 * 1024
/** Deepest JSON that is parsed. */
const MAX_DEPTH = 128
/** Values that are looked at in a result. */
const MAX_VISITED = 500_000
/** Different values that are counted. */
const MAX_COUNT = 1_000
/** Values that are kept of a list. */
const MAX_KEPT = 3
/** Longest value that becomes an argument. */
const MAX_LENGTH = 4_096

/** Names under which results hold paths of files. A link that names one of them means them all. */
const PATH_KEYS = ['match_path', 'path', 'file', 'file_path', 'filename', 'files', 'filenames']

/** Parses a result's text if it is JSON. Linear in the text, at most 4 MiB of it. */
export function readTrigger(text: string): TriggerResult {
  if (text.length > MAX_TEXT) return { text, json: undefined }
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  return { text, json: parsed.ok ? parsed.value : undefined }
}

/**
 * The values that a result has under a key (`projection` of a link): in JSON by a depth-first walk
 * that takes the first level on which the key is found, and a list of strings if a path or URL is
 * asked for; in text lines of paths, `path:line` matches, or URLs.
 */
export function listValues({ text, json }: TriggerResult, projection: string): ListedValues {
  const isPath = PATH_KEYS.includes(projection)
  const isUrl = projection === 'url'
  if (!(json instanceof ObjectValue || Array.isArray(json))) {
    const start = text.slice(0, MAX_TEXT)
    return distinct(isPath ? pathsOf(start) : isUrl ? urlsOf(start) : [])
  }
  let listed = distinct(isPath || isUrl ? stringsOf(json) : [])
  for (const key of new Set(isPath ? [projection, ...PATH_KEYS] : [projection])) {
    if (listed.count === 0) listed = distinct(walk(json, key))
  }
  return listed
}

/** Different values in their order; of many only the first are kept, and the rest counted. */
function distinct(all: Iterable<Value>): ListedValues {
  const found = new Map<string, Value>()
  for (const value of all) {
    const key = scalarKey(value)
    if (key !== undefined && !found.has(key)) found.set(key, value)
    if (found.size === MAX_COUNT) break
  }
  return { values: [...found.values()].slice(0, MAX_KEPT), count: found.size }
}

/** What tells scalars apart; `undefined` for what cannot be an argument. */
function scalarKey(value: Value): string | undefined {
  if (typeof value === 'string') {
    return value === '' || value.length > MAX_LENGTH ? undefined : `"${value}`
  }
  if (value instanceof NumberLiteral) {
    return value.text.length > MAX_LENGTH || isNonFinite(value) ? undefined : value.text
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** The strings of a result that is itself a list of strings: paths of files, or URLs. */
function stringsOf(json: Value): readonly string[] {
  if (!Array.isArray(json) || typeof json[0] !== 'string') return []
  return json.slice(0, MAX_VISITED).filter(item => typeof item === 'string')
}

/**
 * Depth-first, without recursion, and an object's own key before those inside of it. Only values on
 * the first level with a hit are taken: `id` of an issue is not that of the author.
 */
function* walk(root: Value, key: string): Generator<Value> {
  const waiting: { readonly value: Value; readonly level: number }[] = [{ value: root, level: 0 }]
  let visited = 0
  let found = -1
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, level } = next
    if (found !== -1 && level > found) continue
    if (value instanceof ObjectValue && (found === -1 || found === level)) {
      const at = value.keys.indexOf(key)
      const hit = at === -1 ? undefined : value.values[at]
      const items = Array.isArray(hit) ? hit.slice(0, MAX_VISITED) : hit === undefined ? [] : [hit]
      for (const item of items) {
        if (scalarKey(item) !== undefined) found = level
        yield item
      }
      visited += items.length
    }
    const children = value instanceof ObjectValue ? value.values : value
    if (!Array.isArray(children)) continue
    const room = MAX_VISITED - visited
    visited += children.length
    for (let at = Math.min(children.length, room) - 1; at >= 0; at--) {
      const child = children[at] as Value
      if (typeof child === 'object' && child !== null)
        waiting.push({ value: child, level: level + 1 })
    }
    if (visited >= MAX_VISITED && found !== -1) return
  }
}

/** Ends a URL in running text. */
const URL_END = /[\s"'<>()[\]{}|\\^`]/g

/** At the end of a URL they belong to the sentence. */
const SENTENCE_MARKS = '.,;:!?'

/** The URLs of a text, in order. */
function* urlsOf(text: string): Generator<string> {
  for (let at = text.indexOf('http'); at !== -1; at = text.indexOf('http', at + 4)) {
    if (!text.startsWith('://', at + 4) && !text.startsWith('s://', at + 4)) continue
    URL_END.lastIndex = at
    const end = URL_END.exec(text)?.index ?? text.length
    let last = end
    while (last > at && SENTENCE_MARKS.includes(text.charAt(last - 1))) last--
    yield text.slice(at, last)
    at = Math.max(at, end - 4)
  }
}
