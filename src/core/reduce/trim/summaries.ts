import { ObjectValue, type Value } from '../../json/value.ts'
import { type FieldRole, fieldFor, fieldsOf } from './field-names.ts'
import { jsonFacts } from './json-facts.ts'
import { type ItemKind, KIND_NOUNS } from './kinds.ts'

/** The facts of a changed file for a summary. */
export interface ChangedFile {
  readonly path: string | undefined
  readonly added: number
  readonly removed: number
}

/** Directories and states that are named; the others are counted. */
const MOST_NAMED = 3
/** Segments of a path that name its directory. */
const MOST_SEGMENTS = 3
/** Words of a content that may be in a summary: nothing that could be read as a mark of ours. */
const PLAIN = /^[\w#./@+: -]{1,48}$/

/**
 * A few words on items of a JSON list, by what they are.
 * @param indexes of these items in the list, in order
 */
export function summarizeValues(
  kind: ItemKind,
  items: readonly Value[],
  indexes: readonly number[],
): string {
  if (kind === 'diff') return summarizeFiles(items.map(changedFile))
  if (kind === 'discussion') return summarizeDiscussions(items)
  const range = kind === 'comment' ? null : idRange(items)
  return `${KIND_NOUNS[kind]} ${range ?? indexRange(indexes)}${countStates(items)}`
}

/** `src/app/*, docs/* — 8 files, +120/-45` */
export function summarizeFiles(files: readonly ChangedFile[]): string {
  const directories = [...new Set(files.flatMap(({ path }) => directoryOf(path)))]
  const named = directories.slice(0, MOST_NAMED).join(', ')
  const more = directories.length > MOST_NAMED ? ', …' : ''
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  const count = files.length === 1 ? '1 file' : `${files.length} files`
  return `${named === '' ? '' : `${named}${more} — `}${count}, +${added}/-${removed}`
}

/** `41-53`, counted from 1 as lines are */
export function indexRange(indexes: readonly number[]): string {
  const [first = 0] = indexes
  const last = indexes.at(-1) ?? first
  return first === last ? String(first + 1) : `${first + 1}-${last + 1}`
}

function directoryOf(path: string | undefined): readonly string[] {
  if (path === undefined || !PLAIN.test(path)) return []
  const segments = path.split('/').slice(0, -1).slice(0, MOST_SEGMENTS)
  return [segments.length === 0 ? '.' : `${segments.join('/')}/*`]
}

function changedFile(item: Value): ChangedFile {
  const { path } = jsonFacts(item, 0)
  if (!(item instanceof ObjectValue)) return { path, added: 0, removed: 0 }
  const fields = fieldsOf(item)
  const patch = fieldFor(fields, 'patch')
  const counted = countChanges(typeof patch === 'string' ? patch.split('\n') : [])
  const additions = fieldFor(fields, 'additions')
  const deletions = fieldFor(fields, 'deletions')
  return {
    path,
    added: typeof additions === 'number' ? additions : counted.added,
    removed: typeof deletions === 'number' ? deletions : counted.removed,
  }
}

/** Lines that a unified diff adds and removes, without its file headers. */
export function countChanges(lines: readonly string[]): Omit<ChangedFile, 'path'> {
  let added = 0
  let removed = 0
  let isInHunk = !lines.some(line => line.startsWith('@@ '))
  for (const line of lines) {
    if (line.startsWith('@@ ')) isInHunk = true
    else if (isInHunk && line.startsWith('+')) added++
    else if (isInHunk && line.startsWith('-')) removed++
  }
  return { added, removed }
}

function summarizeDiscussions(items: readonly Value[]): string {
  const resolved = items.filter(item => jsonFacts(item, 0).resolved === true).length
  return `${items.length} discussions (${items.length - resolved} unresolved, ${resolved} resolved)`
}

/** `#12-40`, or the names of the first and the last item. */
function idRange(items: readonly Value[]): string | null {
  const first = plainField(items[0], 'id')
  const last = plainField(items.at(-1), 'id')
  if (first === undefined || last === undefined) return null
  const range = first === last ? first : `${first}-${last}`
  return /^\d/.test(range) ? `#${range}` : range
}

/** ` (12 open, 3 closed)` */
function countStates(items: readonly Value[]): string {
  const counts = new Map<string, number>()
  for (const item of items) {
    const state = plainField(item, 'state')
    if (state !== undefined) counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  if (counts.size === 0) return ''
  const most = [...counts].sort(([, a], [, b]) => b - a)
  const named = most.slice(0, MOST_NAMED).map(([state, count]) => `${count} ${state}`)
  return ` (${named.join(', ')}${most.length > MOST_NAMED ? ', …' : ''})`
}

/** A short field; of an object its name. */
function plainField(item: Value | undefined, role: FieldRole): string | undefined {
  if (!(item instanceof ObjectValue)) return undefined
  const value = fieldFor(fieldsOf(item), role)
  const text = value instanceof ObjectValue ? fieldFor(fieldsOf(value), 'title') : value
  const written = typeof text === 'number' ? String(text) : text
  return typeof written === 'string' && PLAIN.test(written) ? written : undefined
}
