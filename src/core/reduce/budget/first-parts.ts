import { writeInline } from '../../formats/json/tree/write-inline.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import {
  type ChosenParts,
  type ItemSet,
  isMarkdown,
  type Pruned,
  prunedValue,
  type Source,
} from './document.ts'
import { markdownSpans } from './price-text.ts'
import { ALL, type KeptPart } from './priced-node.ts'
import { createGapWriter } from './prune-text.ts'
import type { Valuation } from './strategies.ts'

/**
 * Parts that a budget keeps before all others: those that report failures. They are kept in a fixed
 * order, the smallest first, so that what is kept at a budget is kept at every larger one.
 */
export interface FirstParts {
  /** Tokens of each, about, in their order. */
  readonly tokens: readonly number[]
  /** Nothing but the first so many, and what is required. */
  only(count: number): Pruned
  /** The first so many, to be kept in any case; the others are not to be chosen. */
  chosen(count: number): ChosenParts
}

/** A part of so many tokens may be kept in part, so it may be chosen all the same. */
const LARGE_TOKENS = 48

/** The parts of a content to keep first; `null` if it has none. */
export function firstPartsOf(
  source: Source,
  counter: TokenCounter,
  valuation: Valuation,
): FirstParts | null {
  const { value } = source
  return typeof value === 'object' && value !== null
    ? firstItems(value, counter, valuation.firstItems ?? new Map())
    : firstLines(source, counter, valuation.firstLines ?? [])
}

/**
 * How many of the parts fit. The numbers that are tried do not depend on the budget, so a larger
 * budget never has fewer.
 * @param tokensOf exact tokens of a text with these parts alone
 */
export function mostThatFit(
  { tokens, only }: FirstParts,
  budget: number,
  tokensOf: (pruned: Pruned) => number,
): number {
  const sums = [0]
  for (const each of tokens) sums.push(sums.at(-1)! + each)
  const fits = (count: number) =>
    sums[count]! <= budget * MOST_SHORTER + SLACK && tokensOf(only(count)) <= budget
  if (fits(tokens.length)) return tokens.length
  let most = 0
  let over = tokens.length
  while (over - most > 1) {
    const middle = (most + over) >> 1
    if (fits(middle)) most = middle
    else over = middle
  }
  return most
}

/** A text is at most so many times shorter than its parts together. */
const MOST_SHORTER = 8
const SLACK = 1_000

function firstLines(
  { content, shape }: Source,
  counter: TokenCounter,
  failures: readonly number[],
): FirstParts | null {
  if (failures.length === 0) return null
  const lines = content.split('\n')
  const sorted = failures
    .map(at => ({ at, tokens: counter.count(lines[at]!) }))
    .sort((a, b) => a.tokens - b.tokens || a.at - b.at)
  const counted = new Map(failures.map(at => [at, ''] as const))
  const quotes = isMarkdown(shape) ? markdownSpans(lines).filter(isQuote) : []
  const set = (parts: readonly { readonly at: number }[]) => new Set(parts.map(({ at }) => at))
  return {
    tokens: sorted.map(({ tokens }) => tokens),
    only(count) {
      const kept = set(sorted.slice(0, count))
      for (const { start, end } of quotes) for (let at = start; at < end; at++) kept.add(at)
      const { keep, omit, finish } = createGapWriter(lines, counted)
      for (const at of lines.keys()) (kept.has(at) ? keep : omit)(at, at + 1)
      const { text, omissions } = finish()
      return { content: text, omissions }
    },
    chosen: count => ({
      lines: {
        kept: set(sorted.slice(0, count)),
        others: set(sorted.slice(count).filter(({ tokens }) => tokens < LARGE_TOKENS)),
      },
    }),
  }
}

function isQuote({ kind }: { readonly kind: string }): boolean {
  return kind === 'quote'
}

function firstItems(
  value: Value,
  counter: TokenCounter,
  failures: ReadonlyMap<readonly Value[], readonly number[]>,
): FirstParts | null {
  const sorted = [...failures]
    .flatMap(([list, indexes]) => indexes.map(at => ({ list, at })))
    .map((part, order) => ({
      ...part,
      order,
      tokens: counter.count(writeInline(part.list[part.at]!)),
    }))
    .sort((a, b) => a.tokens - b.tokens || a.order - b.order)
  if (sorted.length === 0) return null
  const set = (parts: typeof sorted): ItemSet => {
    const groups = Map.groupBy(parts, ({ list }) => list)
    return new Map(
      [...groups].map(([list, items]) => [list, new Set(items.map(({ at }) => at))] as const),
    )
  }
  const keptOf = (count: number): KeptPart =>
    keptItems(value, set(sorted.slice(0, count))) ?? { kind: 'some', children: noneOf(value) }
  return {
    tokens: sorted.map(({ tokens }) => tokens),
    only: count => prunedValue(value, keptOf(count)),
    chosen: count => ({
      items: {
        kept: keptOf(count),
        others: set(sorted.slice(count).filter(({ tokens }) => tokens < LARGE_TOKENS)),
      },
    }),
  }
}

/** Keeps only these items of a value. */
function keptItems(value: Value, items: ItemSet): KeptPart | null {
  const inner = childrenOf(value)
  const own = Array.isArray(value) ? items.get(value) : undefined
  const children = inner.map((child, at) => {
    if (own !== undefined) return own.has(at) ? ALL : null
    return typeof child === 'object' && child !== null ? keptItems(child, items) : null
  })
  return children.every(child => child === null) ? null : { kind: 'some', children }
}

function childrenOf(value: Value): readonly Value[] {
  if (value instanceof ObjectValue) return value.values
  return Array.isArray(value) ? (value as readonly Value[]) : []
}

function noneOf(value: Value): readonly null[] {
  return childrenOf(value).map(() => null)
}
