import { startsLikeHint } from '../../hints/look-alikes.ts'
import { NumberLiteral, ObjectValue, type Value } from '../../json/value.ts'
import { type Column, extremes, rareValues } from './outliers.ts'
import { BULK, CRITICAL, raiseEnds, STRUCTURE } from './reducer.ts'
import { severityOf } from './severity.ts'

const HEAD = 5
const TAIL = 3
/** Outliers that stay, as a share of the items: those that most fields set apart. */
const OUTLIER_SHARE = 0.2

/**
 * Characters of a text that are looked at: what comes later is content, which may well speak of
 * errors.
 */
const STATE_CHARS = 256
/** Objects in an item whose fields are looked at, and fields of a list in all. */
const DEEPEST = 3
const MOST_FIELDS = 256

const FAILURE_KEY =
  /(?:^|[._-])(?:errors?|err|exceptions?|fail(?:ed|ures?)?|faults?|warnings?|stack_?trace|traceback)(?:$|[._-])|[a-z](?:Errors?|Exceptions?|Failures?|Warnings?)$/i

/**
 * Ranks each item of a list: items are critical if a field that names failures or warnings has one,
 * or if a text starts with one. Both ends are structure, and so are outliers: items with a rare
 * value if a field has few, with a number or a length of text that is far out, or with members that
 * few others have.
 */
export function rankItems(items: readonly Value[]): Uint8Array {
  const ranks = new Uint8Array(items.length)
  items.forEach((item, at) => {
    if (hasFailure(item, 0)) ranks[at] = CRITICAL
  })
  const marks = new Uint32Array(items.length)
  for (const column of columnsOf(items)) {
    // Of a text its length; if a field has both, they are not compared.
    const isNumeric = typeof column.values[0] === 'number'
    const isOne = column.values.every(value => (typeof value === 'number') === isNumeric)
    const numbers = column.values.map(value => (typeof value === 'number' ? value : value.length))
    const found = new Set(rareValues(column))
    if (isOne) for (const at of extremes(column.items, numbers)) found.add(at)
    for (const at of found) marks[at] = marks[at]! + 1
  }
  const outliers = [...marks.keys()].filter(
    at => marks[at]! > 0 && ranks[at] === BULK && !imitatesHint(items[at]!, 0),
  )
  outliers.sort((a, b) => marks[b]! - marks[a]! || a - b)
  for (const at of outliers.slice(0, Math.ceil(items.length * OUTLIER_SHARE))) ranks[at] = STRUCTURE
  raiseEnds(ranks, HEAD, TAIL)
  return ranks
}

/**
 * Whether a text of the item begins like a hint of ours: then being unlike others is no reason to
 * keep it.
 */
function imitatesHint(value: Value, level: number): boolean {
  if (typeof value === 'string') return startsLikeHint(value)
  if (level > DEEPEST || typeof value !== 'object' || value === null) return false
  if (value instanceof NumberLiteral) return false
  const inner = value instanceof ObjectValue ? [...value.keys, ...value.values] : value
  return inner.some(each => imitatesHint(each, level + 1))
}

/** Recursion is as deep as `DEEPEST`. */
function hasFailure(value: Value, level: number): boolean {
  if (typeof value === 'string') return severityOf(value.slice(0, STATE_CHARS)) !== null
  if (level > DEEPEST || typeof value !== 'object' || value === null) return false
  if (value instanceof NumberLiteral) return false
  if (value instanceof ObjectValue) {
    return value.values.some((member, index) => {
      const isFailure = FAILURE_KEY.test(value.keys[index]!) && isSet(member)
      return isFailure || hasFailure(member, level + 1)
    })
  }
  return value.some(inner => hasFailure(inner, level + 1))
}

/** Whether a field that is named for failures has one. */
function isSet(value: Value): boolean {
  if (value instanceof ObjectValue) return value.keys.length > 0
  if (Array.isArray(value)) return value.length > 0
  // A share or a rate is there whether anything failed or not.
  if (typeof value === 'number') return Number.isInteger(value) && value !== 0
  return value === true || (typeof value === 'string' && value !== '')
}

/** The scalars of all items by their place, and which members each item has. */
function columnsOf(items: readonly Value[]): readonly Column[] {
  const columns = new Map<string, { items: number[]; values: (string | number)[] }>()
  const add = (place: string, at: number, value: string | number): void => {
    let column = columns.get(place)
    if (column === undefined) {
      if (columns.size >= MOST_FIELDS) return
      column = { items: [], values: [] }
      columns.set(place, column)
    }
    // The first of several values represents all, as in lists.
    if (column.items.at(-1) === at) return
    column.items.push(at)
    column.values.push(value)
  }
  // Objects that are alike share their list of keys, so that places need not be spelled for each.
  const known = new Map<string, Map<readonly string[], Members>>()
  const membersAt = (place: string, keys: readonly string[]): Members => {
    let here = known.get(place)
    if (here === undefined) {
      here = new Map()
      known.set(place, here)
    }
    let members = here.get(keys)
    if (members === undefined) {
      members = { shape: keys.join(','), places: keys.map(key => `${place}.${key}`) }
      here.set(keys, members)
    }
    return members
  }
  const visit = (value: Value, place: string, at: number, level: number): void => {
    if (typeof value === 'number' || typeof value === 'string') add(place, at, value)
    else if (value === null || typeof value === 'boolean') add(place, at, String(value))
    else if (value instanceof NumberLiteral) add(place, at, Number(value.text))
    else if (Array.isArray(value)) add(place, at, value.length)
    else if (value instanceof ObjectValue && level <= DEEPEST) {
      const { shape, places } = membersAt(place, value.keys)
      add(place, at, shape)
      value.values.forEach((member, index) => {
        visit(member, places[index]!, at, level + 1)
      })
    }
  }
  items.forEach((item, at) => {
    visit(item, '', at, 0)
  })
  return [...columns.values()]
}

/** The members of objects at one place: what they are, and the place of each. */
interface Members {
  readonly shape: string
  readonly places: readonly string[]
}
