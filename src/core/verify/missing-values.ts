import { equalValues, ObjectValue, type Value } from '../json/value.ts'
import { writePathStep } from '../json/write-json.ts'
import { missingLines } from './missing-lines.ts'
import { jsonValue } from './same-meaning.ts'

/** The units of parts that can be missing at a place. */
export type MissingUnit = 'items' | 'fields' | 'texts' | 'lines'

/** A question about the missing parts. */
export interface Question {
  /** Which of them count. */
  counts(unit: MissingUnit, at: string): boolean
  /** A list or object whose size, or a list whose one run of missing items, is known. */
  readonly container?: {
    readonly at: string
    readonly of?: number
    readonly run?: { readonly start: number; readonly end: number }
  }
}

const ONE: Bounds = { least: 1, most: 1 }
/** Before the number of characters that are cut from a text, and after it. */
const CUT = '…[+'
const CUT_END = ' chars]'

/**
 * How many parts of `original` are missing in `left`, of those that the question is about. Parts
 * are items of lists, fields of objects, lines of texts, and the ends of texts, whose mark must be
 * true. A text that is JSON may lack parts as JSON does. Places are
 * JSON paths, `[:]` for any item.
 * @returns `null` if `left` has something that is no part of the original
 */
export function missingIn(original: Value, left: Value, question: Question): Bounds | null {
  const { counts, container } = question

  function compare(whole: Value, rest: Value, at: string): Bounds | null {
    if (whole instanceof ObjectValue) {
      return rest instanceof ObjectValue ? compareObjects(whole, rest, at) : null
    }
    if (Array.isArray(whole)) return Array.isArray(rest) ? compareLists(whole, rest, at) : null
    if (typeof whole === 'string' && typeof rest === 'string' && whole !== rest) {
      if (isCut(whole, rest)) return counts('texts', at) ? ONE : NOTHING
      return compareTexts(whole, rest, at)
    }
    return equalValues(whole, rest) ? NOTHING : null
  }

  function compareTexts(whole: string, rest: string, at: string): Bounds | null {
    const [inner, innerRest] = [jsonValue(whole), jsonValue(rest)]
    const isJson = typeof inner === 'object' && inner !== null && innerRest !== undefined
    if (isJson) return compare(inner, innerRest, at)
    const sums = missingLines(whole, rest).map(({ runs, cuts }) => {
      const lines = runs.reduce((sum, { omitted }) => sum + omitted, 0)
      return (counts('lines', at) ? lines : 0) + (counts('texts', at) ? cuts.length : 0)
    })
    return sums.length === 0
      ? null
      : {
          least: sums.reduce((a, b) => Math.min(a, b)),
          most: sums.reduce((a, b) => Math.max(a, b)),
        }
  }

  function compareLists(
    whole: readonly Value[],
    rest: readonly Value[],
    at: string,
  ): Bounds | null {
    const place = `${at}[:]`
    const known = container?.at === at ? container : undefined
    if (known?.of !== undefined && known.of !== whole.length) return null
    if (known?.run !== undefined) {
      const { start, end } = known.run
      const stay = whole.toSpliced(start, end - start)
      const inside =
        stay.length === rest.length ? pairwise(stay, rest, place) : aligned(stay, rest, at)
      const gone = counts('items', at) ? whole.length - stay.length : 0
      return inside && { least: inside.least + gone, most: inside.most + gone }
    }
    if (whole.length === rest.length) return pairwise(whole, rest, place)
    return aligned(whole, rest, at)
  }

  function aligned(whole: readonly Value[], rest: readonly Value[], at: string): Bounds | null {
    const gap = counts('items', at) ? 1 : 0
    return align({
      whole: whole.length,
      left: rest.length,
      pair: (i, j) => compare(whole[i]!, rest[j]!, `${at}[:]`),
      gap: () => gap,
    })
  }

  function compareObjects(whole: ObjectValue, rest: ObjectValue, at: string): Bounds | null {
    const placeOf = (i: number) => at + writePathStep(whole.keys[i]!)
    const known = container?.at === at ? container : undefined
    if (known?.of !== undefined && known.of !== whole.keys.length) return null
    return align({
      whole: whole.keys.length,
      left: rest.keys.length,
      pair: (i, j) =>
        whole.keys[i] === rest.keys[j]
          ? compare(whole.values[i]!, rest.values[j]!, placeOf(i))
          : null,
      gap: i => (counts('fields', placeOf(i)) ? 1 : 0),
    })
  }

  function pairwise(whole: readonly Value[], rest: readonly Value[], place: string): Bounds | null {
    let least = 0
    let most = 0
    for (const [index, value] of whole.entries()) {
      const bounds = compare(value, rest[index]!, place)
      if (bounds === null) return null
      least += bounds.least
      most += bounds.most
    }
    return { least, most }
  }

  return compare(original, left, '$')
}

/**
 * Whether `cut` is the start of `whole` with a mark that has the right number of missing
 * characters.
 */
function isCut(whole: string, cut: string): boolean {
  const mark = cut.lastIndexOf(CUT)
  if (mark < 0 || !cut.endsWith(CUT_END) || !whole.startsWith(cut.slice(0, mark))) return false
  return cut.slice(mark) === `${CUT}${whole.length - mark}${CUT_END}` && mark < whole.length
}

/** The least and the most that something can be if a text allows several readings. */
export interface Bounds {
  readonly least: number
  readonly most: number
}

const NOTHING: Bounds = { least: 0, most: 0 }

/** Readings that are tried. Beyond that, the bounds are as wide as the gaps allow. */
const MOST_PAIRS = 1_000_000

/** Two sequences of which the second may be what is left of the first. */
export interface Sequences {
  /** How many the first has. */
  readonly whole: number
  /** How many are left. */
  readonly left: number
  /**
   * What is missing in the member `j` that is left if it is `i` of the first; `null`: it cannot be.
   */
  pair(i: number, j: number): Bounds | null
  /** The missing parts if member `i` of the first is gone. */
  gap(i: number): number
}

/**
 * What is missing over all the ways in which members that are left can be, in their order, members
 * of the first sequence; `null` if there is none. Linear if each can be only one.
 */
export function align(sequences: Sequences): Bounds | null {
  const { whole, left } = sequences
  if (left > whole) return null
  const pair = remembered(sequences)
  const earliest = new Int32Array(left)
  for (let j = 0, i = 0; j < left; j++, i++) {
    while (i < whole && pair(i, j) === null) i++
    if (i === whole) return null
    earliest[j] = i
  }
  const latest = new Int32Array(left)
  for (let j = left - 1, i = whole - 1; j >= 0; j--, i--) {
    while (pair(i, j) === null) i--
    latest[j] = i
  }
  const gaps = gapSums(sequences)
  const width = latest.reduce((sum, last, j) => sum + last - earliest[j]! + 1, 0)
  if (width > MOST_PAIRS) return { least: 0, most: Number.POSITIVE_INFINITY }
  return bestOf({ earliest, latest, gaps, pair, whole })
}

/** Dynamic programming over the place of each member that is left. */
function bestOf({
  earliest,
  latest,
  gaps,
  pair,
  whole,
}: {
  readonly earliest: Int32Array
  readonly latest: Int32Array
  readonly gaps: Float64Array
  readonly pair: Sequences['pair']
  readonly whole: number
}): Bounds {
  /** By the place of the member before: what is missing up to it, gaps after it not counted. */
  let from = 0
  let before: Bounds[] = [NOTHING]
  earliest.forEach((first, j) => {
    const row: Bounds[] = []
    let least = Number.POSITIVE_INFINITY
    let most = Number.NEGATIVE_INFINITY
    let next = 0
    for (let i = first; i <= latest[j]!; i++) {
      for (; next < before.length && from + next <= i; next++) {
        const gone = gaps[from + next]!
        least = Math.min(least, before[next]!.least - gone)
        most = Math.max(most, before[next]!.most - gone)
      }
      const inside = pair(i, j)
      row.push(
        inside === null
          ? { least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY }
          : { least: least + gaps[i]! + inside.least, most: most + gaps[i]! + inside.most },
      )
    }
    before = row
    from = first + 1
  })
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  before.forEach((bounds, next) => {
    const rest = gaps[whole]! - gaps[from + next]!
    least = Math.min(least, bounds.least + rest)
    most = Math.max(most, bounds.most + rest)
  })
  return { least, most }
}

/** `sums[i]`: what counts as missing if all before `i` are gone. */
function gapSums({ whole, gap }: Sequences): Float64Array {
  const sums = new Float64Array(whole + 1)
  for (let i = 0; i < whole; i++) sums[i + 1] = sums[i]! + gap(i)
  return sums
}

/** Each pair is compared once, so that nested sequences take no more time for being nested. */
function remembered({ whole, pair }: Sequences): Sequences['pair'] {
  const known = new Map<number, Bounds | null>()
  return (i, j) => {
    const id = j * whole + i
    let bounds = known.get(id)
    if (bounds === undefined) {
      bounds = pair(i, j)
      known.set(id, bounds)
    }
    return bounds
  }
}
