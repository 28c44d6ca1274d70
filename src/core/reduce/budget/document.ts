import type { ShapeReport } from '../../classify/classify.ts'
import type { Value } from '../../json/value.ts'
import { writeJson } from '../../json/write-json.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { Planner } from './plan.ts'
import { priceText } from './price-text.ts'
import { priceValue } from './price-value.ts'
import type { KeptPart, PricedNode } from './priced-node.ts'
import { pruneText } from './prune-text.ts'
import { type Omission, pruneValue } from './prune-value.ts'
import type { Valuation } from './strategies.ts'

/** A content that parts may be left out of. */
export interface Document {
  readonly root: PricedNode
  /** Its own planner; `createPlanner(root)` if absent. */
  planner?(): Planner
  /** The smallest part that may be kept; if absent, what the root requires. */
  least?(): KeptPart
  prune(kept: KeptPart): Pruned
}

/** The kept part of the content: compact JSON, or text with marks in its gaps. */
export interface Pruned {
  readonly content: string
  readonly omissions: readonly Omission[]
  /** The kept value with a gap in each place where items are missing; absent: none is. */
  readonly marked?: Value
  /** If it is a list of items: those of which anything is kept, in order. */
  readonly items?: readonly number[]
}

/** The kept part of a list or object. */
export function prunedValue(value: Value, kept: KeptPart): Pruned {
  const { value: left, omissions } = pruneValue(value, kept)
  const hasGaps = omissions.some(({ unit }) => unit === 'items')
  return {
    content: writeJson(left),
    omissions,
    ...(hasGaps && { marked: pruneValue(value, kept, true).value }),
  }
}

/** The source of a document. */
export interface Source {
  readonly content: string
  readonly value: Value | undefined
  readonly shape: ShapeReport
}

/**
 * A JSON list or object by its value, anything else by its lines.
 * @param first parts to keep in any case, and parts not to choose
 */
export function documentOf(
  { content, value, shape }: Source,
  counter: TokenCounter,
  given: Valuation,
  budget: number,
  first: ChosenParts = {},
): Document {
  const valuation = withoutOthers(given, first)
  if (typeof value === 'object' && value !== null) {
    return {
      root: priceValue(value, counter, valuation),
      prune: kept => prunedValue(value, keptByEither(kept, first.items?.kept ?? null) ?? kept),
    }
  }
  const text = priceText(content, counter, valuation, { markdown: isMarkdown(shape), budget })
  const counted = new Map((given.firstLines ?? []).map(at => [at, ''] as const))
  return {
    root: text.root.node,
    prune(kept) {
      const pruned = pruneText(text, kept, { always: first.lines?.kept, counted })
      return { content: pruned.text, omissions: pruned.omissions }
    },
  }
}

function withoutOthers(valuation: Valuation, { lines, items }: ChosenParts): Valuation {
  const { line = () => 1, item = () => 1 } = valuation
  return {
    ...valuation,
    ...(lines && { line: index => (lines.others.has(index) ? 0 : line(index)) }),
    ...(items && {
      item: (list, index) => (items.others.get(list)?.has(index) ? 0 : item(list, index)),
    }),
  }
}

/** Whether headings, fences and blockquotes of a text are those of Markdown. */
export function isMarkdown({ shape, inner_formats }: ShapeReport): boolean {
  return (
    shape === 'prose' ||
    shape === 'markdown_table' ||
    inner_formats.includes('md') ||
    inner_formats.includes('md_table') ||
    inner_formats.includes('md_with_code')
  )
}

/** Parts that are kept, and parts that are not, by the index of a line, or of an item of a list. */
export interface ChosenParts {
  readonly lines?: { readonly kept: ReadonlySet<number>; readonly others: ReadonlySet<number> }
  readonly items?: { readonly kept: KeptPart; readonly others: ItemSet }
}

/** Items of lists by their index. */
export type ItemSet = ReadonlyMap<readonly Value[], ReadonlySet<number>>

/** What either of two choices from one value keeps. */
function keptByEither(a: KeptPart | null, b: KeptPart | null): KeptPart | null {
  if (a === null || b === null) return a ?? b
  if (a.kind !== 'some') return a
  if (b.kind !== 'some') return b
  const children = a.children.map((child, at) => keptByEither(child, b.children[at] ?? null))
  return { kind: 'some', children }
}
