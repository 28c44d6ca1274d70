/**
 * The value model: what a tool result means once it is parsed. Unlike `JSON.parse` it keeps the
 * order of keys (integer-like ones too), duplicate keys, `__proto__`, and every number's spelling.
 */

/**
 * A number whose spelling a double cannot reproduce: `1.0`, `-0`, `1e400`, `12345678901234567890`.
 */
export class NumberLiteral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** An object's members in source order; `keys[i]` belongs to `values[i]`; duplicates are kept. */
export class ObjectValue {
  readonly keys: readonly string[]
  readonly values: readonly Value[]

  constructor(keys: readonly string[], values: readonly Value[]) {
    this.keys = keys
    this.values = values
  }
}

/** A plain `number` is one whose JSON spelling is exactly `String(number)`. */
export type Value =
  | null
  | boolean
  | number
  | NumberLiteral
  | string
  | readonly Value[]
  | ObjectValue
