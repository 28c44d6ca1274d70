import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../../core/json/char-codes.ts'
import { allMembers } from '../../members.ts'

/** Larger schemas and arguments are for the server to check. */
const MOST_SCHEMA_BYTES = 256 * 1024
const MOST_ARGUMENTS = 10_000

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown } | boolean>>
  readonly required?: unknown
  readonly additionalProperties?: unknown
  readonly patternProperties?: unknown
}

/**
 * Why arguments cannot fit the first level of a schema; `null` if they may. Texts for numbers and
 * flags, and `null` for anything, are left to the server: many take them.
 * @param args one JSON value
 * @param schema a JSON object; `null` if the tool has none
 */
export function argumentFault(args: JsonBytes, schema: JsonBytes | null): string | null {
  if (args[0] !== OPEN_BRACE) return 'arguments must be an object'
  if (schema === null || schema.length > MOST_SCHEMA_BYTES) return null
  const given = allMembers(args, MOST_ARGUMENTS)
  if (given === null) return 'arguments have a name twice, or too many'
  const { properties, required, ...more } = JSON.parse(schema.toString()) as Schema
  const isClosed = more.additionalProperties === false && more.patternProperties === undefined
  const known = new Map(Object.entries(Object(properties) as NonNullable<typeof properties>))
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === 'string' && !given.has(name)) return `${name} is missing`
  }
  for (const [name, value] of given) {
    const property = known.get(name)
    if (property === undefined) {
      if (isClosed) return `there is no ${name.slice(0, 100)}`
      continue
    }
    const type = typeof property === 'object' ? property?.type : undefined
    const isOther = typeof type === 'string' && !mayBe(value, type)
    if (isOther) return `${name} must be of the type ${type}`
  }
  return null
}

/** Whether a server may take a value as one of this type. */
function mayBe(value: JsonBytes, type: string): boolean {
  const first = value[0]
  if (value.toString('latin1', 0, 4) === 'null') return true
  const isText = first === QUOTE
  switch (type) {
    case 'string':
      return isText
    case 'array':
      return first === OPEN_BRACKET
    case 'object':
      return first === OPEN_BRACE
    default:
      return first !== OPEN_BRACE && first !== OPEN_BRACKET
  }
}
