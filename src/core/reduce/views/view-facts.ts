import { NumberLiteral, ObjectValue, type Value } from '../../json/value.ts'

/** Names of fields that are collected, and values that are looked at for them. */
const MAX_KEYS = 5_000
const MAX_NODES = 50_000

/** The names of a value's fields at any depth. Equal lists of names are looked at once. */
export function keysOf(value: Value): ReadonlySet<string> {
  const keys = new Set<string>()
  const seen = new Set<readonly string[]>()
  const open: Value[] = [value]
  let nodes = 0
  for (let inner = open.pop(); inner !== undefined; inner = open.pop()) {
    const items = inner instanceof ObjectValue ? inner.values : (inner as readonly Value[])
    if (inner instanceof ObjectValue && !seen.has(inner.keys)) {
      seen.add(inner.keys)
      for (const key of inner.keys) keys.add(key)
    }
    nodes += items.length
    if (nodes > MAX_NODES || keys.size > MAX_KEYS) return keys
    for (const item of items)
      if (item instanceof ObjectValue || Array.isArray(item)) open.push(item)
  }
  return keys
}

/** What the arguments of a call name: values, and words that may be names of fields. */
export interface Named {
  readonly values: ReadonlySet<string>
  readonly words: ReadonlySet<string>
}

/** Shorter texts and numbers are no names: they are equal to too much. */
const LEAST_CHARS = 3
const MOST_CHARS = 512
const MOST_NAMED = 200

/** @param args the call's arguments as a value of `JSON.parse` */
export function namedBy(args: unknown): Named {
  const values = new Set<string>()
  const words = new Set<string>()
  const open: unknown[] = [args]
  for (let i = 0; i < open.length && i < MOST_NAMED; i++) {
    const inner = open[i]
    if (typeof inner === 'object' && inner !== null) {
      for (const item of Object.values(inner).slice(0, 50)) open.push(item)
    } else if (typeof inner === 'number' || typeof inner === 'string') {
      const text = String(inner)
      if (text.length < LEAST_CHARS || text.length > MOST_CHARS) continue
      values.add(text)
      if (typeof inner === 'number') continue
      for (const word of text.split(/[^\w-]+/)) if (word.length >= LEAST_CHARS) words.add(word)
    }
  }
  return { values, words }
}

/** Whether a scalar is a value that the arguments name. */
export function isNamed(value: Value, { values }: Named): boolean {
  if (typeof value === 'string' || typeof value === 'number') return values.has(String(value))
  return value instanceof NumberLiteral && values.has(value.text)
}

/** Fields that are empty wherever a list has them: a table's column stays or goes as a whole. */
export interface EmptyFields {
  isEmpty(key: string): boolean
  at(key: string): EmptyFields
}

class Field implements EmptyFields {
  readonly fields = new Map<string, Field>()
  hasContent = false

  isEmpty(key: string): boolean {
    return this.fields.get(key)?.hasContent === false
  }

  at(key: string): Field {
    let field = this.fields.get(key)
    if (field === undefined) {
      field = new Field()
      this.fields.set(key, field)
    }
    return field
  }
}

export function emptyFields(value: Value): EmptyFields {
  const root = new Field()
  const visit = (inner: Value, field: Field): void => {
    if (inner instanceof ObjectValue) {
      inner.keys.forEach((key, at) => {
        const member = field.at(key)
        const child = inner.values[at]!
        member.hasContent ||= !isBlank(child)
        visit(child, member)
      })
    } else if (Array.isArray(inner)) for (const item of inner) visit(item, field)
  }
  visit(value, root)
  return root
}

function isBlank(value: Value): boolean {
  if (value === null || value === '') return true
  if (value instanceof ObjectValue) return value.keys.length === 0
  return Array.isArray(value) && value.length === 0
}

const FAILURE_FIELD =
  /^(?:.*[._-])?(?:errors?|err|exceptions?|fail(?:ed|ures?)?|faults?|failure_\w+|stack_?trace|traceback)$|[a-z](?:Errors?|Exceptions?|Failures?)$/
const STATE_FIELD = /^(?:status|state|conclusion|result|outcome|phase|health)$/i
const FAILED_STATE =
  /^(?:errore?d?|fail(?:ed|ing|ure)?|fatal|crashed|crashloopbackoff|timed_?out|aborted|unhealthy|declined|rejected|denied|startup_failure)$/i

/** Whether a field tells of a failure: by its name if it is set, or by its state. */
export function tellsFailure(key: string, value: Value): boolean {
  if (key.length > 64) return false
  if (typeof value === 'string' && STATE_FIELD.test(key)) return FAILED_STATE.test(value)
  return FAILURE_FIELD.test(key) && !isBlank(value) && value !== false && value !== 0
}

/** Whether an object has a field that tells of a failure. */
export function hasFailed(value: Value): boolean {
  return (
    value instanceof ObjectValue &&
    value.values.some((member, at) => tellsFailure(value.keys[at]!, member))
  )
}
