import { writeInline } from '../../formats/json/tree/write-inline.ts'
import { isScalar } from '../../formats/json/tree/write-text.ts'
import { hasMoreNodes, ObjectValue, type Value } from '../../json/value.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import { cutsOf } from './cuts.ts'
import { type PricedNode, SEPARATOR } from './priced-node.ts'
import type { Valuation } from './strategies.ts'

/** Levels below which a value is one part. Recursion over priced nodes is no deeper. */
const DEEPEST = 64
/** A value of more nodes is looked at less deeply. */
const MANY_NODES = 200_000
const SHALLOW = 3

/**
 * Shares of objects in a list, and of a key in them, from which its items can be rows of a table.
 */
const ROW_SHARE = 0.8

/**
 * The parts of a JSON value with their prices. Prices of texts are exact, others are near to the
 * tokens in the formats.
 */
export function priceValue(value: Value, counter: TokenCounter, valuation: Valuation): PricedNode {
  const deepest = hasMoreNodes(value, MANY_NODES) ? SHALLOW : DEEPEST
  const keys = new Map<string, number>()
  return price(value, { key: 0, weight: 1, level: 0 })

  interface Place {
    readonly key: number
    /** Weight of the fields here. */
    readonly weight: number
    readonly level: number
  }

  function price(inner: Value, { key, weight, level }: Place): PricedNode {
    if (isScalar(inner) || isEmpty(inner) || level === deepest) return priceLeaf(inner, key, weight)
    if (inner instanceof ObjectValue) {
      const children = inner.values.map((member, index) => {
        const name = inner.keys[index]!
        const factor = weight * (valuation.fields.get(name) ?? 1)
        return price(member, { key: keyTokens(name), weight: factor, level: level + 1 })
      })
      return { own: SEPARATOR, key, value: 0, children }
    }
    const children = inner.map((item, index) => {
      const contentFactor = valuation.item?.(inner, index) ?? 1
      const factor = weight * contentFactor * valuation.strategy.factor(index, inner.length)
      return price(item, { key: 0, weight: factor, level: level + 1 })
    })
    const tableOwn = headerTokens(inner)
    return {
      own: SEPARATOR,
      key,
      value: 0,
      children,
      ...(tableOwn === null ? {} : { tableOwn }),
    }
  }

  function priceLeaf(inner: Value, key: number, weight: number): PricedNode {
    const text = writeInline(inner)
    const own = counter.count(text)
    const value = weight * (isScalar(inner) ? 1 : Math.max(1, own / TOKENS_PER_FIELD))
    if (typeof inner !== 'string') return { own, key, value }
    const cuts = cutsOf(inner, { tokens: own, value, by: 'early' })
    return cuts.length === 0 ? { own, key, value } : { own, key, value, cuts }
  }

  function keyTokens(name: string): number {
    let tokens = keys.get(name)
    if (tokens === undefined) {
      tokens = counter.count(name) + SEPARATOR
      keys.set(name, tokens)
    }
    return tokens
  }

  /** Tokens of the header that these items would have as rows; `null` if they cannot be rows. */
  function headerTokens(items: readonly Value[]): number | null {
    const union = new Set<string>()
    let objects = 0
    let members = 0
    for (const item of items) {
      if (!(item instanceof ObjectValue)) continue
      objects++
      members += item.keys.length
      for (const name of item.keys) union.add(name)
    }
    const isTable =
      objects >= 2 &&
      objects >= items.length * ROW_SHARE &&
      members >= objects * union.size * ROW_SHARE
    if (!isTable) return null
    let tokens = SEPARATOR
    for (const name of union) tokens += keyTokens(name)
    return tokens
  }
}

/** An empty container counts as one field. */
function isEmpty(value: ObjectValue | readonly Value[]): boolean {
  return (value instanceof ObjectValue ? value.values : value).length === 0
}

/** The number of fields of a value that is too deep to be examined is estimated from its tokens. */
const TOKENS_PER_FIELD = 6
