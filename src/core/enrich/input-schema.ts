import { equalValues, NumberLiteral, ObjectValue, type Value } from '../json/value.ts'

/** The kinds of JSON Schema's `type`. */
type Kind = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** Longest list of `enum`, `required` or `properties` that is read; longer ones accept nothing. */
const MAX_ENTRIES = 10_000

/**
 * Keywords that this checker does not evaluate, and that can refuse what the others accept. With
 * one of them a call is not made ahead, since whether it fits is not known.
 */
const UNREAD = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'pattern',
  'multipleOf',
]

/** A member of an object; the last one of duplicates, as `JSON.parse` has it. */
export function memberOf(object: Value | undefined, key: string): Value | undefined {
  if (!(object instanceof ObjectValue) || object.keys.length > MAX_ENTRIES) return undefined
  const at = object.keys.lastIndexOf(key)
  return at === -1 ? undefined : object.values[at]
}

/**
 * Whether a tool's `inputSchema` accepts arguments that are scalars: `type`, `required`, `enum`,
 * `const`, `properties`, `additionalProperties`, and bounds of numbers and lengths. Stricter than
 * JSON Schema: what it cannot evaluate it refuses. It follows no reference, so that a schema cannot
 * make it work long. A tool without a schema (`undefined`) accepts everything.
 */
export function acceptsArguments(schema: Value | undefined, args: ObjectValue): boolean {
  if (schema === undefined || schema === true) return true
  if (!(schema instanceof ObjectValue) || isUnread(schema)) return false
  if (!hasKind(memberOf(schema, 'type'), 'object')) return false
  const required = memberOf(schema, 'required') ?? []
  if (!Array.isArray(required) || required.length > MAX_ENTRIES) return false
  const given = new Set(args.keys)
  if (given.size < args.keys.length || !required.every(key => given.has(key as string)))
    return false
  const properties = memberOf(schema, 'properties')
  const others = memberOf(schema, 'additionalProperties')
  return args.keys.every((key, at) => {
    const property = memberOf(properties, key)
    const rule = property === undefined ? others : property
    return rule === undefined || acceptsScalar(rule, args.values[at]!)
  })
}

/** Names of the arguments that a schema requires. */
export function requiredArguments(schema: Value | undefined): readonly string[] {
  const required = memberOf(schema, 'required')
  if (!Array.isArray(required) || required.length > MAX_ENTRIES) return []
  return required.filter(name => typeof name === 'string')
}

/** Whether a property's schema takes text and no number. */
export function isTextOnly(schema: Value | undefined, name: string): boolean {
  const type = memberOf(memberOf(memberOf(schema, 'properties'), name), 'type')
  return hasKind(type, 'string') && type !== undefined && !hasKind(type, 'integer')
}

function acceptsScalar(rule: Value, value: Value): boolean {
  if (typeof rule === 'boolean') return rule
  if (!(rule instanceof ObjectValue) || isUnread(rule)) return false
  const kinds = kindsOf(value)
  const type = memberOf(rule, 'type')
  if (!kinds.some(kind => hasKind(type, kind))) return false
  const choices = memberOf(rule, 'enum')
  if (choices !== undefined) {
    if (!Array.isArray(choices) || choices.length > MAX_ENTRIES) return false
    if (!choices.some(choice => equalValues(choice, value))) return false
  }
  const constant = memberOf(rule, 'const')
  if (constant !== undefined && !equalValues(constant, value)) return false
  return isWithinBounds(rule, value)
}

/** Bounds of numbers, and of the lengths of texts. */
const RANGE: Readonly<Record<string, (size: number, limit: number) => boolean>> = {
  minimum: (size, limit) => size >= limit,
  maximum: (size, limit) => size <= limit,
  exclusiveMinimum: (size, limit) => size > limit,
  exclusiveMaximum: (size, limit) => size < limit,
}
const LENGTHS: typeof RANGE = { minLength: RANGE['minimum']!, maxLength: RANGE['maximum']! }

function isWithinBounds(rule: ObjectValue, value: Value): boolean {
  const isText = typeof value === 'string'
  const size = isText ? value.length : numberOf(value)
  if (size === undefined) return true
  return Object.entries(isText ? LENGTHS : RANGE).every(([keyword, holds]) => {
    const limit = memberOf(rule, keyword)
    return limit === undefined || holds(size, numberOf(limit) ?? Number.NaN)
  })
}

function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value
  return value instanceof NumberLiteral ? Number(value.text) : undefined
}

function isUnread(schema: ObjectValue): boolean {
  return schema.keys.length > MAX_ENTRIES || UNREAD.some(keyword => schema.keys.includes(keyword))
}

/** The kinds that a value is of; a whole number is of two. */
function kindsOf(value: Value): readonly Kind[] {
  const number = numberOf(value)
  if (number !== undefined) return Number.isInteger(number) ? ['integer', 'number'] : ['number']
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'string') return ['string']
  return [typeof value === 'boolean' ? 'boolean' : 'object']
}

/** Whether `type`, a name or a list of names, has the kind; an absent one has all. */
function hasKind(type: Value | undefined, kind: Kind): boolean {
  if (type === undefined) return true
  return Array.isArray(type) ? type.length <= 10 && type.includes(kind) : type === kind
}
