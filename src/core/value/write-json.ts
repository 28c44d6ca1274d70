import { NumberLiteral, ObjectValue, type Value } from './value.ts'

/** What a JSON string cannot hold as it is, or must not if the text is to be valid UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be found
const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/

/** Keys remembered in quotes; more would cost memory where keys do not repeat. */
const MAX_QUOTED_KEYS = 1024

/**
 * The value as compact JSON: numbers in their own spelling, keys in order, duplicates included, lone
 * surrogates escaped. Linear; recurses once a level of nesting (see `DEFAULT_MAX_DEPTH`).
 */
export function writeJson(value: Value): string {
  return write(value, new Map())
}

/** The string as a JSON string literal. */
export function quoteJson(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`
}

function write(value: Value, quotedKeys: Map<string, string>): string {
  if (typeof value === 'string') return quoteJson(value)
  if (value instanceof ObjectValue) return writeObject(value, quotedKeys)
  if (value instanceof NumberLiteral) return value.text
  if (Array.isArray(value)) return writeArray(value, quotedKeys)
  return String(value)
}

function writeArray(items: readonly Value[], quotedKeys: Map<string, string>): string {
  if (items.length === 0) return '[]'
  let out = `[${write(items[0]!, quotedKeys)}`
  for (let i = 1; i < items.length; i++) out += `,${write(items[i]!, quotedKeys)}`
  return `${out}]`
}

function writeObject({ keys, values }: ObjectValue, quotedKeys: Map<string, string>): string {
  if (keys.length === 0) return '{}'
  let out = ''
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!
    let quoted = quotedKeys.get(key)
    if (quoted === undefined) {
      quoted = `${quoteJson(key)}:`
      if (quotedKeys.size < MAX_QUOTED_KEYS) quotedKeys.set(key, quoted)
    }
    out += (i === 0 ? '{' : ',') + quoted + write(values[i]!, quotedKeys)
  }
  return `${out}}`
}
