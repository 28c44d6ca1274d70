import type { ShapeReport } from '../../classify/classify.ts'
import type { TrimAlgorithm } from '../../solvers/tree/trim-tree.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { Document } from '../budget/document.ts'
import type { TextPart } from '../budget/price-text.ts'
import { type KeptPart, SEPARATOR } from '../budget/priced-node.ts'
import { pruneText } from '../budget/prune-text.ts'
import type { Valuation } from '../budget/strategies.ts'
import type { ItemDocument, Scope } from './item-document.ts'
import { KIND_NOUNS } from './kinds.ts'
import { createTreePlanner, type KeptOf } from './plan-tree.ts'
import { headTail } from './strategies/position.ts'
import { type ItemFacts, weighPlaces } from './strategies/strategy.ts'
import { countChanges, indexRange, summarizeFiles } from './summaries.ts'
import { findTextItems, type TextItems } from './text-items.ts'
import { createTextTree, type GrownPart, partOf, UNPRICED } from './text-tree.ts'
import { createTreeBuilder, type TreeBuilder } from './tree-builder.ts'

/** Parts that a text is cut into at most, and the budget, by tokens: finer ones leave more gaps. */
const PARTS = 48
const PARTS_OF_BUDGET = 16
const LEAST_PART_TOKENS = 24
/** Tokens of the mark in a gap, which a part that is kept alone needs. */
const GAP_TOKENS = 8

/** A part of the text, and the items in it. */
interface ItemPart extends GrownPart {
  readonly items: readonly number[]
}

/**
 * A text that is a list of items: files of a diff, sections of Markdown, lines of a log.
 * @returns `null` for any other
 */
export function textItems(
  { content, shape }: { readonly content: string; readonly shape: ShapeReport },
  counter: TokenCounter,
  { strategy }: Valuation,
  { budget, algorithm }: { readonly budget: number; readonly algorithm: TrimAlgorithm | 'auto' },
): ItemDocument | null {
  const lines = content.split('\n')
  const found = findTextItems(lines, shape, strategy === headTail)
  if (found === null) return null
  const { kind, items } = found
  const tokens = lines.map(line => counter.count(line) + SEPARATOR)
  const facts = items.map(({ start, end, path, isError }): ItemFacts => {
    return {
      tokens: tokens.slice(start, end).reduce((sum, each) => sum + each, 0),
      ...(path === undefined ? {} : { path }),
      ...(isError === undefined ? {} : { isError }),
    }
  })
  const counted = new Map(items.flatMap(({ start, isError }) => (isError ? [[start, '']] : [])))
  // The value of a text grows with its tokens by itself.
  const factors = weighPlaces(strategy, facts)
  const total = tokens.reduce((sum, each) => sum + each, 0)
  const most = Math.max(LEAST_PART_TOKENS, Math.min(total / PARTS, budget / PARTS_OF_BUDGET))

  function grow({ level, items: only, required = false }: Scope) {
    const builder = createTreeBuilder()
    const isWhole = only === undefined
    const options = { cap: level, requires: isWhole }
    const tree = createTextTree(builder, { lines, tokens, most }, options)
    const topFor = (cost = 0): number => {
      const top = builder.add(0, cost)
      if (required) builder.require(top)
      return top
    }

    /** Adds runs of lines that are items. Errors are apart from the lines beside them. */
    function addLineItems(scope: readonly number[]): ItemPart[] {
      return segmentsOf(scope).flatMap(([start, end]) => {
        const isEdge = (at: number) => items[at]!.isError !== items[at - 1]!.isError
        return tree.runsOf(start, end, isEdge).map(([from, to]) => {
          const own = range(from, to)
          const factor = own.reduce((sum, at) => sum + factors[at]!, 0) / own.length
          const top = topFor(items[from]!.isError === true ? GAP_TOKENS : 0)
          return { ...tree.addRun(from, to, top, factor), items: own }
        })
      })
    }

    function addItems(): ItemPart[] {
      const scope = only ?? range(0, items.length)
      if (kind === 'line') return addLineItems(scope)
      const before = isWhole ? tree.addLines(0, items[0]!.start, 0, 1) : []
      return [
        ...before.map(part => ({ ...part, items: [] })),
        ...scope.map(index => {
          const part = tree.addBlock(items[index]!, topFor(), factors[index]!)
          return { ...part, items: [index] }
        }),
      ]
    }

    return planned(builder, addItems(), algorithm)
  }

  return {
    list: {
      kind,
      tokens: facts.map(each => each.tokens),
      summarize: chosen => summarize(chosen, found, lines),
    },
    scoped(scope): Document {
      let grown: ReturnType<typeof grow> | undefined
      const state = () => {
        grown ??= grow(scope)
        return grown
      }
      return {
        root: UNPRICED,
        planner: () => state().planner,
        least: () => state().planner.plan(0).kept,
        prune(kept) {
          const { parts } = state()
          const { root, children } = withGaps(lines.length, parts, kept)
          const { text, omissions } = pruneText(
            { lines, root },
            { kind: 'some', children },
            { counted },
          )
          const stay = parts.flatMap((part, index) => (isKept(kept, index) ? part.items : []))
          return { content: text, omissions, items: stay }
        },
      }
    },
  }
}

function summarize(
  chosen: readonly number[],
  { kind, items }: TextItems,
  lines: readonly string[],
): string {
  if (kind !== 'diff') return `${KIND_NOUNS[kind]} ${indexRange(chosen)}`
  return summarizeFiles(
    chosen.map(index => {
      const { start, end, path } = items[index]!
      return { path, ...countChanges(lines.slice(start, end)) }
    }),
  )
}

function planned(
  builder: TreeBuilder,
  parts: readonly ItemPart[],
  algorithm: TrimAlgorithm | 'auto',
) {
  const keptOf: KeptOf = kept => {
    return { kind: 'some', children: parts.map(part => part.keptOf(kept)) }
  }
  return { parts, planner: createTreePlanner(builder.build(), keptOf, algorithm) }
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

/** Runs of numbers that follow one another, `[first, after last)`. */
function segmentsOf(sorted: readonly number[]): readonly (readonly [number, number])[] {
  const segments: [number, number][] = []
  for (const at of sorted) {
    const last = segments.at(-1)
    if (last?.[1] === at) last[1]++
    else segments.push([at, at + 1])
  }
  return segments
}

/**
 * Parts of all lines: those of the plan, and between them lines outside of its scope, which are not
 * kept.
 */
function withGaps(count: number, parts: readonly ItemPart[], kept: KeptPart) {
  const all: TextPart[] = []
  const children: (KeptPart | null)[] = []
  const gap = (start: number, end: number): void => {
    if (start >= end) return
    all.push(partOf(start, end))
    children.push(null)
  }
  let at = 0
  parts.forEach(({ part }, index) => {
    gap(at, part.start)
    all.push(part)
    children.push(kept.kind === 'some' ? (kept.children[index] ?? null) : kept)
    at = part.end
  })
  gap(at, count)
  return { root: { ...partOf(0, count), parts: all }, children }
}

function isKept(kept: KeptPart, index: number): boolean {
  return kept.kind !== 'some' || (kept.children[index] ?? null) !== null
}
