import type { z } from 'zod'
import { didYouMean } from './nearest-name.ts'
import { removedKey } from './removed-keys.ts'

type Issue = z.core.$ZodIssue

/** What is wrong with a value, in our words. @param schema of the whole that was read */
export function describeIssue(issue: Issue, schema: z.ZodType): string {
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => unknownKey(issue.path, key, schema)).join(', ')
    case 'invalid_type':
      return issue.message.startsWith('Invalid input')
        ? `must be ${typeName(issue)}`
        : issue.message
    case 'invalid_value':
      return oneOf(issue.values)
    case 'too_small':
      return boundOf(issue.inclusive === false ? 'above' : 'at least', issue.minimum, issue.origin)
    case 'too_big':
      return boundOf(issue.inclusive === false ? 'below' : 'at most', issue.maximum, issue.origin)
    case 'invalid_format':
      if (!issue.message.startsWith('Invalid')) return issue.message
      return issue.format === 'url' ? 'must be a whole URL' : `must match ${issue.pattern}`
    case 'invalid_union':
      return 'options' in issue ? oneOf(issue.options as readonly unknown[]) : issue.message
    case 'invalid_key':
      return issue.issues[0] === undefined ? issue.message : describeIssue(issue.issues[0], schema)
    default:
      return issue.message
  }
}

function oneOf(values: readonly unknown[]): string {
  return `must be ${values.map(value => JSON.stringify(value)).join(' or ')}`
}

function unknownKey(path: readonly PropertyKey[], key: string, schema: z.ZodType): string {
  const instead = removedKey([...path, key])
  if (instead !== undefined) return `${key} is no setting any more; ${instead}`
  return `${key} is no setting${didYouMean(key, keysAt(schema, path))}`
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
}

function typeName({ expected }: Extract<Issue, { code: 'invalid_type' }>): string {
  return TYPES[expected] ?? `a ${expected}`
}

const UNITS: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' entries',
}

function boundOf(word: string, bound: number | bigint, origin: string): string {
  const unit = UNITS[origin]
  return unit === undefined ? `must be ${word} ${bound}` : `must have ${word} ${bound}${unit}`
}

/** The keys of the table at a path of a schema; none if there is no such table. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = schema
  for (const step of path) at = memberOf(bare(at), step)
  const { shape, keyType } = Object(bare(at)) as {
    readonly shape?: object
    readonly keyType?: { readonly options?: readonly string[] }
  }
  return Object.keys(shape ?? {}).concat(keyType?.options ?? [])
}

/** A schema without its default, its checks and the like. */
function bare(schema: unknown): unknown {
  const { def } = Object(schema) as { readonly def?: { readonly innerType?: unknown } }
  return def?.innerType === undefined ? schema : bare(def.innerType)
}

function memberOf(schema: unknown, step: PropertyKey): unknown {
  const { shape, element, valueType } = Object(schema) as {
    readonly shape?: Readonly<Record<PropertyKey, unknown>>
    readonly element?: unknown
    readonly valueType?: unknown
  }
  return shape?.[step] ?? element ?? valueType
}
