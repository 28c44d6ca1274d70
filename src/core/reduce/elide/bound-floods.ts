import type { LineTemplates } from '../../formats/text/templated/line-templates.ts'
import { matchesAny } from './severity.ts'

/** So many of one kind of failure stay from the start, and the last one. */
const FIRST = 3
/** Words of a kind of failure in a log with times that are told apart. */
const MOST_VARIANTS = 24
/** A code as compilers and databases print one, or a server after a request: `TS2345`, `" 404`. */
const CODE = /\b[A-Z]{1,5}-?\d{2,5}\b|" [1-5]\d\d\b/
/** Characters of a line that are searched for its code. */
const LOOKED_AT = 1_000
/**
 * A line that begins with a time or a large counter (dates, hours, seconds since a start), or with
 * a key for one, and an object of JSON.
 */
const RECORDS = [
  /^\W{0,4}(?:[A-Za-z]{2,10}="?)?\d{1,4}[^\w\s]\d{1,2}[^\w\s]\d/,
  /^[A-Z][a-z]{2} +\d{1,2} +\d{1,2}:\d\d:/,
  /^\W{0,4}\d{5,19}[ .,\]]/,
  /^\{"/,
]

/** Lines of one kind of failure. */
interface FloodKind {
  readonly kept: number[]
  readonly variants: Set<string>
  last: number
}

/**
 * Those of some lines that represent all of them: of each template the first three and the last,
 * and each code that it has. Of records, templates of which only some words differ count as one, of
 * which the first of 24 wordings stay.
 * @param chosen indexes of lines, in order
 */
export function boundFloods(
  lines: readonly string[],
  { ids, facts }: LineTemplates,
  chosen: readonly number[],
): readonly number[] {
  const kinds = new Map<string, FloodKind>()
  const kept: number[] = []
  for (const at of chosen) {
    const id = ids[at]!
    const line = lines[at]!
    if (id === -1) {
      kept.push(at)
      continue
    }
    const key = kindOfLine(line, at, { ids, facts })
    const kind = kinds.get(key) ?? { kept: [], variants: new Set(), last: -1 }
    if (kind.last === -1) kinds.set(key, kind)
    kind.last = at
    const variant = `${id} ${CODE.exec(line.slice(0, LOOKED_AT))?.[0] ?? ''}`
    const isNew = kind.variants.size < MOST_VARIANTS && !kind.variants.has(variant)
    if (isNew) kind.variants.add(variant)
    if (isNew || kind.kept.length < FIRST) kind.kept.push(at)
  }
  for (const kind of kinds.values()) {
    for (const item of kind.kept) kept.push(item)
    if (kind.kept.at(-1) !== kind.last) kept.push(kind.last)
  }
  return kept.sort((a, b) => a - b)
}

/** The kind of a line that reports a failure: its template, or for records its statement. */
export function kindOfLine(line: string, at: number, { ids, facts }: LineTemplates): string {
  const id = ids[at]!
  return id !== -1 && matchesAny(line, RECORDS) ? `family ${facts[id]!.family}` : `template ${id}`
}
