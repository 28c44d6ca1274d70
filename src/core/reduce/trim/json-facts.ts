import { ObjectValue, type Value } from '../../json/value.ts'
import { FIELD_NAMES, fieldFor, fieldsOf } from './field-names.ts'
import type { ItemFacts } from './strategies/strategy.ts'

type Fields = ReadonlyMap<string, Value>

/** The facts of a list's item, by the roles of its fields. */
export function jsonFacts(item: Value, tokens: number): ItemFacts {
  if (!(item instanceof ObjectValue)) return { tokens }
  const fields = fieldsOf(item)
  const path = fieldFor(fields, 'path')
  const resolved = resolvedOf(fields)
  const date = dateOf(fieldFor(fields, 'updated')) ?? dateOf(fieldFor(fields, 'created'))
  const activity = activityOf(fields)
  return {
    tokens,
    ...(typeof path === 'string' ? { path } : {}),
    ...(resolved === undefined ? {} : { resolved }),
    ...(date === undefined ? {} : { date }),
    ...(activity === undefined ? {} : { activity }),
  }
}

/**
 * Whether a discussion is resolved: its own field, else whether all of its comments that can be
 * resolved are.
 */
function resolvedOf(fields: Fields): boolean | undefined {
  const own = fieldFor(fields, 'resolved')
  if (typeof own === 'boolean') return own
  const state = fieldFor(fields, 'state')
  if (state === 'resolved' || state === 'unresolved') return state === 'resolved'
  const replies = fieldFor(fields, 'replies')
  if (!Array.isArray(replies)) return undefined
  const flags = replies.flatMap((reply: Value) => {
    if (!(reply instanceof ObjectValue)) return []
    const inner = fieldsOf(reply)
    const flag = inner.get('resolvable') === false ? undefined : fieldFor(inner, 'resolved')
    return typeof flag === 'boolean' ? [flag] : []
  })
  return flags.length === 0 ? undefined : flags.every(Boolean)
}

/** Numbers as they are, lists by their length, objects by the total that they name. */
function activityOf(fields: Fields): number | undefined {
  let sum: number | undefined
  for (const name of FIELD_NAMES.activity) {
    const count = countOf(fields.get(name))
    if (count !== undefined) sum = (sum ?? 0) + count
  }
  return sum
}

const TOTALS = ['totalcount', 'total', 'count', 'votes', 'watchcount'] as const

function countOf(value: Value | undefined): number | undefined {
  if (typeof value === 'number') return value >= 0 && value < Infinity ? value : undefined
  if (Array.isArray(value)) return value.length
  if (!(value instanceof ObjectValue)) return undefined
  const fields = fieldsOf(value)
  const total = TOTALS.map(name => fields.get(name)).find(each => typeof each === 'number')
  return typeof total === 'number' && total >= 0 ? total : undefined
}

/**
 * ISO 8601: a day, perhaps with a time and an offset. Without an offset it is taken as UTC, on
 * every machine.
 */
const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d))?(?:[.,]\d{1,9})? ?(Z|[+-]\d\d:?\d\d)?)?$/
/** Unix seconds from 1973 to 2286, and the same in milliseconds. */
const SECONDS = { least: 1e8, most: 1e10 }

/** Unix milliseconds of a date, to the second. */
export function dateOf(value: Value | undefined): number | undefined {
  if (typeof value === 'number') {
    if (value >= SECONDS.least && value < SECONDS.most) return value * 1000
    return value >= SECONDS.least * 1000 && value < SECONDS.most * 1000 ? value : undefined
  }
  const parts = typeof value === 'string' ? ISO_DATE.exec(value) : null
  if (parts === null) return undefined
  const [year, month, day, hour = 0, minute = 0, second = 0] = parts.slice(1, 7).map(toNumber)
  const at = Date.UTC(year!, month! - 1, day, hour, minute, second)
  return at - offsetMs(parts[7])
}

function toNumber(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits)
}

function offsetMs(offset = 'Z'): number {
  if (offset === 'Z') return 0
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2))
  return (offset.startsWith('-') ? -1 : 1) * minutes * 60_000
}
