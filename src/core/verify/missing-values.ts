import { equalValues } from '../json/equal-values.ts'
import { writePathStep } from '../json/path-step.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import { align, type Bounds, NOTHING } from './align.ts'

/** What can be missing at a place. */
export type MissingUnit = 'items' | 'fields' | 'texts'

/** What is asked about the missing parts. */
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
 * are items of lists, fields of objects, and the ends of texts, whose mark must be true. Places are
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
      if (!isCut(whole, rest)) return null
      return counts('texts', at) ? ONE : NOTHING
    }
    return equalValues(whole, rest) ? NOTHING : null
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
