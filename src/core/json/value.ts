/**
 * The value model: what a tool result means once it is parsed. Unlike `JSON.parse` it keeps the
 * order of keys (integer-like ones too), duplicate keys, `__proto__`, and every number's spelling.
 */

/**
 * A number whose spelling a double cannot reproduce: `1.0`, `-0`, `1e400`, `12345678901234567890`.
 * `NaN`, `Infinity` and `-Infinity` are such numbers too; see `isNonFinite`.
 */
export class NumberLiteral {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Whether a number is one that Python writes and JSON does not have. */
export function isNonFinite({ text }: NumberLiteral): boolean {
  return text === 'NaN' || text.endsWith('Infinity')
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

/**
 * Whether two values are exactly the same: types, order of keys, duplicates, spelling of numbers,
 * strings by code units. Linear, and without recursion.
 */
export function equalValues(a: Value, b: Value): boolean {
  const pending: [readonly Value[], readonly Value[]][] = [[[a], [b]]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [left, right] = pair
    if (left.length !== right.length) return false
    for (let i = 0; i < left.length; i++) {
      const one = left[i]!
      const other = right[i]!
      if (one === other) continue
      if (one instanceof ObjectValue) {
        if (!(other instanceof ObjectValue) || !equalKeys(one.keys, other.keys)) return false
        pending.push([one.values, other.values])
      } else if (Array.isArray(one)) {
        if (!Array.isArray(other)) return false
        pending.push([one, other])
      } else if (!(one instanceof NumberLiteral && other instanceof NumberLiteral)) return false
      else if (one.text !== other.text) return false
    }
  }
  return true
}

function equalKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * Whether a value has more than `limit` nodes, itself and scalars included. Looks at no more than
 * that.
 */
export function hasMoreNodes(value: Value, limit: number): boolean {
  const open: (readonly Value[])[] = [[value]]
  let nodes = 0
  for (let level = open.pop(); level !== undefined; level = open.pop()) {
    nodes += level.length
    if (nodes > limit) return true
    for (const inner of level) {
      const items = inner instanceof ObjectValue ? inner.values : inner
      if (Array.isArray(items) && items.length > 0) open.push(items)
    }
  }
  return false
}
