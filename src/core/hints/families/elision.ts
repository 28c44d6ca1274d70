import type { ElidedPart, ElisionHint } from '../hint.ts'
import type { HintReader } from '../reader.ts'
import { quote, writePlace, writeShown } from '../text-slot.ts'
import { areCounts, type Family, SHOWN_CHARS } from './family.ts'

const HASH = /^[0-9a-f]{24}$/
/** A short word, so that the first words of a marker tell what it is. */
const UNIT = /^[A-Za-z][A-Za-z_-]{0,15}$/
/** What a summary begins with, whole or cut. */
const SUMMARY = /(?=["*])/y
const NEXT = 'next: chunk '
const RETRIEVE = ' | GET /v1/retrieve/{hash}'
const LINES = /^lines ([1-9]\d{0,14})-([1-9]\d{0,14})$/

/** What follows the amount that is left, and what is said of the rest. */
const KEPT = ' kept, '
const NOT_SHOWN = ' not shown'

/**
 * `> [316 lines kept, 286 not shown | hash=…]` if one number says all, else
 * `> [34 of 60 items at $.items[3:37] not shown | "all passed" | next: chunk 2 of 3 | hash=…]`
 */
export const elision: Family<ElisionHint> = {
  valid: ({ hash, parts, next }) =>
    HASH.test(hash) && parts.length > 0 && parts.every(validPart) && validNext(next),

  write({ hash, parts, summary, next }, verbosity) {
    const terse = verbosity === 'terse'
    const [only] = parts
    const isSum = !terse && parts.length === 1 && only?.of !== undefined && only.at === undefined
    const each = () => parts.map(terse ? writeAmount : writePart).join(', ')
    const what = isSum ? writeSum(only) : each() + NOT_SHOWN
    const words =
      summary === undefined || terse
        ? ''
        : ` | ${writeShown(summary, SHOWN_CHARS[verbosity], quote)}`
    const more = next === undefined ? '' : ` | ${NEXT}${next.chunk} of ${next.of}`
    return `${what}${words}${more} | hash=${hash}${verbosity === 'verbose' ? RETRIEVE : ''}`
  },

  read(reader) {
    const parts = readParts(reader)
    if (parts === null || !reader.skip(`${NOT_SHOWN} | `)) return null
    const summary = reader.match(SUMMARY) === undefined ? undefined : reader.shown()
    if (summary !== undefined && !reader.skip(' | ')) return null
    const next = reader.skip(NEXT) ? readNext(reader) : undefined
    if (next !== undefined && !reader.skip(' | ')) return null
    const hash = reader.skip('hash=') ? reader.hex() : undefined
    if (hash === undefined) return null
    reader.skip(RETRIEVE)
    return {
      family: 'elision',
      hash,
      parts,
      ...(summary === undefined ? {} : { summary }),
      ...(next === undefined ? {} : { next }),
    }
  },
}

function validPart({ unit, omitted, of, at }: ElidedPart): boolean {
  if (!UNIT.test(unit) || at === '' || !areCounts(1, omitted) || !areCounts(0, of)) return false
  return of === undefined || omitted <= of
}

/** The first chunk is not the next of any. */
function validNext(next: ElisionHint['next']): boolean {
  return next === undefined || (areCounts(2, next.chunk, next.of) && next.chunk <= next.of)
}

function readNext(reader: HintReader): ElisionHint['next'] {
  const chunk = reader.count()
  const of = reader.skip(' of ') ? reader.count() : undefined
  return chunk === undefined || of === undefined ? undefined : { chunk, of }
}

/** @param part the only one, of so many */
function writeSum({ unit, omitted, of = omitted }: ElidedPart): string {
  return `${of - omitted} ${unit}${KEPT}${omitted}${NOT_SHOWN}`
}

function writeAmount({ unit, omitted }: ElidedPart): string {
  return `${omitted} ${unit}`
}

/** Lines that are missing in one piece are named by their place: `lines 40-80 of 400`. */
function writePart(part: ElidedPart): string {
  const { unit, omitted, of, at } = part
  const total = of === undefined ? '' : ` of ${of}`
  if (isRun(part)) return `${at}${total}`
  return `${omitted}${total} ${unit}${at === undefined ? '' : ` at ${writePlace(at)}`}`
}

function isRun({ unit, omitted, at = '' }: ElidedPart): boolean {
  const [, first, last] = LINES.exec(at) ?? []
  return unit === 'lines' && first !== undefined && Number(last) - Number(first) + 1 === omitted
}

function readParts(reader: HintReader): ElidedPart[] | null {
  const parts: ElidedPart[] = []
  do {
    const part = readPart(reader)
    if (part === null) return null
    parts.push(part)
    if (parts.length > 1 || !reader.skip(KEPT)) continue
    const omitted = reader.count()
    return omitted === undefined ? null : [{ ...part, omitted, of: part.omitted + omitted }]
  } while (reader.skip(', '))
  return parts
}

function readPart(reader: HintReader): ElidedPart | null {
  if (reader.skip('lines ')) {
    const first = reader.count()
    const last = reader.skip('-') ? reader.count() : undefined
    if (first === undefined || last === undefined) return null
    const of = readOf(reader)
    const at = `lines ${first}-${last}`
    return { unit: 'lines', omitted: last - first + 1, ...of, at }
  }
  const omitted = reader.count()
  const of = readOf(reader)
  const unit = reader.skip(' ') ? reader.word() : undefined
  if (omitted === undefined || unit === undefined) return null
  const at = reader.skip(' at ') ? reader.place() : undefined
  return { unit, omitted, ...of, ...(at === undefined ? {} : { at }) }
}

function readOf(reader: HintReader): { of?: number } {
  const of = reader.skip(' of ') ? reader.count() : undefined
  return of === undefined ? {} : { of }
}
