import { startsLikeHint } from '../../hints/look-alikes.ts'
import { NumberLiteral, ObjectValue, type Value } from '../../json/value.ts'
import { BULK, CRITICAL, raiseEnds, STRUCTURE } from './reducer.ts'
import { hasLevel, severityOf } from './severity.ts'

/** Shorter lists stay as they are. */
const LEAST_ITEMS = 20
/** Levels of a value that are looked into for lists. */
const DEEPEST_LIST = 64

/**
 * Ranks the items of a value's long lists. Lists inside the items of such a list are not looked
 * into.
 */
export function rankLists(value: Value): ReadonlyMap<readonly Value[], Uint8Array> {
  const ranks = new Map<readonly Value[], Uint8Array>()
  const visit = (inner: Value, level: number): void => {
    if (level > DEEPEST_LIST) return
    if (inner instanceof ObjectValue) for (const member of inner.values) visit(member, level + 1)
    else if (Array.isArray(inner)) {
      if (inner.length >= LEAST_ITEMS) ranks.set(inner, rankItems(inner))
      else for (const item of inner) visit(item, level + 1)
    }
  }
  visit(value, 0)
  return ranks
}

const HEAD = 5
const TAIL = 3
/** Outliers that stay, as a share of the items: those that differ in most fields. */
const OUTLIER_SHARE = 0.2

/**
 * Characters of a text that are examined. Later text is content, and content may mention errors.
 */
const STATE_CHARS = 256
/** Levels of an item at which failures are looked for. */
const DEEPEST_FAILURE = 32
/** Objects in an item whose fields are compared, and fields of a list in all. */
const DEEPEST_OBJECT = 3
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
  const ranks = markItems(items)
  raiseEnds(ranks, HEAD, TAIL)
  return ranks
}

/** The same without the ends. */
export function markItems(items: readonly Value[]): Uint8Array {
  const ranks = new Uint8Array(items.length)
  items.forEach((item, at) => {
    if (hasFailure(item)) ranks[at] = CRITICAL
  })
  const marks = new Uint32Array(items.length)
  for (const column of columnsOf(items)) {
    // A text counts by its length; if a field has both, they are not compared.
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
  return ranks
}

/**
 * Whether a text of the item begins like a hint of ours. Such an item is not kept as an outlier.
 */
function imitatesHint(value: Value, level: number): boolean {
  if (typeof value === 'string') return startsLikeHint(value)
  if (level > DEEPEST_OBJECT || typeof value !== 'object' || value === null) return false
  if (value instanceof NumberLiteral) return false
  const inner = value instanceof ObjectValue ? [...value.keys, ...value.values] : value
  return inner.some(each => imitatesHint(each, level + 1))
}

/** Whether an item reports a failure or a warning. Recursion is as deep as `DEEPEST_FAILURE`. */
export function hasFailure(value: Value, level = 0): boolean {
  if (typeof value === 'string') {
    return severityOf(value.slice(0, STATE_CHARS)) !== null || reportsLater(value)
  }
  if (level > DEEPEST_FAILURE || typeof value !== 'object' || value === null) return false
  if (value instanceof NumberLiteral) return false
  if (value instanceof ObjectValue) {
    return value.values.some((member, index) => {
      const isFailure = FAILURE_KEY.test(value.keys[index]!) && isSet(member)
      return isFailure || hasFailure(member, level + 1)
    })
  }
  return value.some(inner => hasFailure(inner, level + 1))
}

/** Whether a line of a long text has a level for a failure, as an output in a field has. */
function reportsLater(text: string): boolean {
  if (text.length <= STATE_CHARS || !text.includes('\n')) return false
  return text.split('\n').some(line => severityOf(line) === 'failure' && hasLevel(line))
}

/** Whether a field that is named for failures has one. */
function isSet(value: Value): boolean {
  if (value instanceof ObjectValue) return value.keys.length > 0
  if (Array.isArray(value)) return value.length > 0
  // A share or a rate exists whether anything failed or not.
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
    else if (value instanceof ObjectValue && level <= DEEPEST_OBJECT) {
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

/** Least observations of a field that a rule can be made of. */
const LEAST_VALUES = 20
/**
 * A field has few values if these are at most this share of the observations; one is rare up to the
 * second share.
 */
const DISTINCT_SHARE = 0.1
const RARE_SHARE = 0.02
/**
 * A number is far out if it is beyond a quartile by this many interquartile ranges (Tukey 1977,
 * "Exploratory Data Analysis", 2D).
 */
const FAR_OUT = 3
/**
 * If more numbers than this share are far out, the tail is heavy, and only its ends are outliers.
 */
const TAIL_SHARE = 0.05

/** Values of one field, and the items that they are of. */
interface Column {
  readonly items: readonly number[]
  readonly values: readonly (string | number)[]
}

/** Items with a value that few others have, if the field has few values in all. */
function rareValues({ items, values }: Column): readonly number[] {
  if (values.length < LEAST_VALUES) return []
  const counts = new Map<string | number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  if (counts.size > Math.max(2, values.length * DISTINCT_SHARE)) return []
  const most = Math.max(1, Math.floor(values.length * RARE_SHARE))
  return items.filter((_, index) => counts.get(values[index]!)! <= most)
}

/** Items whose number is far out; of a heavy tail only the least and the greatest. */
function extremes(items: readonly number[], numbers: readonly number[]): readonly number[] {
  if (numbers.length < LEAST_VALUES) return []
  const sorted = Float64Array.from(numbers).sort()
  const low = sorted[Math.floor(sorted.length / 4)]!
  const high = sorted[Math.floor((sorted.length * 3) / 4)]!
  const reach = FAR_OUT * (high - low)
  if (!(reach > 0)) return []
  // `NaN` is within no bounds.
  const isFar = (number: number) => !(number >= low - reach && number <= high + reach)
  const far = items.filter((_, index) => isFar(numbers[index]!))
  if (far.length <= numbers.length * TAIL_SHARE) return far
  const ends = [sorted[0]!, sorted.at(-1)!].filter(isFar)
  return ends.map(end => items[numbers.findIndex(number => Object.is(number, end))]!)
}
