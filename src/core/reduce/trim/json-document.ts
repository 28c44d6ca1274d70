import { ObjectValue, type Value } from '../../json/value.ts'
import type { TrimTree } from '../../solvers/tree/tree.ts'
import type { TrimAlgorithm } from '../../solvers/tree/trim-tree.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import { type Document, type Pruned, prunedValue } from '../budget/document.ts'
import { type Totals, totalOf, totalsOf } from '../budget/opening.ts'
import type { Planner } from '../budget/plan.ts'
import { priceValue } from '../budget/price-value.ts'
import {
  extraOf,
  type Form,
  type KeptPart,
  type PricedNode,
  SEPARATOR,
} from '../budget/priced-node.ts'

import type { Valuation } from '../budget/strategies.ts'
import { hasFailure } from '../elide/rank-items.ts'
import type { ItemDocument, ItemList, Scope } from './item-document.ts'
import { jsonFacts } from './json-facts.ts'
import { JsonTree, someOf } from './json-tree.ts'
import { kindOfItems } from './kinds.ts'
import { createTreePlanner, type KeptOf } from './plan-tree.ts'
import { uniform } from './strategies/position.ts'
import { weighItems } from './strategies/strategy.ts'
import { summarizeValues } from './summaries.ts'
import { createTreeBuilder, type TreeBuilder } from './tree-builder.ts'

const nothing: KeptOf = () => null

interface JsonItemsOptions {
  readonly algorithm: TrimAlgorithm | 'auto'
}

/**
 * A JSON value that is a list of items, or has one that is most of it.
 * @returns `null` for any other
 */
export function jsonItems(
  value: Value,
  counter: TokenCounter,
  valuation: Valuation,
  { algorithm }: JsonItemsOptions,
): ItemDocument | null {
  const root = priceValue(value, counter, { strategy: uniform, fields: valuation.fields })
  const totals = totalsOf(root)
  const found = findItems(value, root, totals)
  if (found === null) return null
  return new JsonItems({ value, root, totals, found, valuation, algorithm })
}

interface Source extends JsonItemsOptions {
  readonly value: Value
  readonly root: PricedNode
  readonly totals: Totals
  readonly found: FoundItems
  readonly valuation: Valuation
}

class JsonItems implements ItemDocument {
  readonly list: ItemList
  readonly #source: Source
  readonly #nodes: readonly PricedNode[]
  readonly #form: Form
  readonly #factors: ArrayLike<number>
  /** The smallest part that may be kept. */
  readonly #none: KeptPart

  constructor(source: Source) {
    const { root, found, valuation } = source
    const { path, items } = found
    this.#source = source
    const node = path.reduce((parent, index) => parent.children![index]!, root)
    this.#nodes = node.children!
    this.#form = node.tableOwn === undefined ? 'keyed' : 'row'
    this.#none = { kind: 'some', children: root.children!.map(() => null) }
    const kind = kindOfItems(items)
    const tokens = this.#nodes.map(item => this.#tokensOf(item))
    // Issues and comments are about errors; other items have one.
    const isError = (item: Value) => kind === 'item' && hasFailure(item)
    const facts = items.map((item, index) => ({
      ...jsonFacts(item, tokens[index]!),
      ...(isError(item) && { isError: true }),
    }))
    this.#factors = weighItems(valuation.strategy, facts)
    const valuesAt = (indexes: readonly number[]) => indexes.map(index => items[index]!)
    const summarize = (chosen: readonly number[]) => summarizeValues(kind, valuesAt(chosen), chosen)
    this.list = { kind, tokens, summarize }
  }

  scoped(scope: Scope): Document {
    let planner: Planner | undefined
    const plan = () => {
      planner ??= this.#createPlanner(scope)
      return planner
    }
    return {
      root: this.#source.root,
      planner: plan,
      least: () => (scope.required === true ? plan().plan(0).kept : this.#none),
      prune: kept => this.#prune(kept),
    }
  }

  #createPlanner(scope: Scope): Planner {
    const { algorithm } = this.#source
    const { tree, keptOf } = this.#grow(scope)
    return createTreePlanner(tree, kept => keptOf(kept) ?? this.#none, algorithm)
  }

  #prune(kept: KeptPart): Pruned {
    return { ...prunedValue(this.#source.value, kept), items: this.#itemsIn(kept) }
  }

  /** Tokens of an item. An item of a table takes no keys. */
  #tokensOf(node: PricedNode): number {
    const { totals } = this.#source
    if (this.#form === 'keyed' || node.children === undefined) {
      return totalOf(node, totals) + SEPARATOR
    }
    return node.children.reduce((sum, cell) => sum + totalOf(cell, totals) + SEPARATOR, SEPARATOR)
  }

  /** The tree of a scope. */
  #grow(scope: Scope): { readonly tree: TrimTree; readonly keptOf: KeptOf } {
    const { root, value, totals, valuation } = this.#source
    const builder = createTreeBuilder()
    const tree = new JsonTree(builder, totals, {
      cap: scope.level,
      thread: valuation.strategy.thread,
      weighed: valuation.fields,
    })
    const growing = { scope, builder, tree }
    const keptOf = this.#addPath(growing, { node: root, value, depth: 0 })
    return { tree: builder.build(), keptOf }
  }

  /** Adds the way to the list, and the values beside it. */
  #addPath(growing: Growing, { node, value, depth }: PathStep): KeptOf {
    const { scope, builder, tree } = growing
    const { path } = this.#source.found
    const isList = depth === path.length
    const own = isList ? (node.tableOwn ?? node.own) : node.own
    builder.grow(0, own + (depth === 0 ? 0 : extraOf(node, 'keyed')), 0)
    if (isList) {
      const items = this.#addItems(growing)
      return kept => someOf(items, kept)
    }
    const { values } = value as ObjectValue
    const parts = node.children!.map((child, index) => {
      const inner = values[index]!
      if (index === path[depth]) {
        return this.#addPath(growing, { node: child, value: inner, depth: depth + 1 })
      }
      return scope.items === undefined ? tree.addBeside(child, inner, 0) : nothing
    })
    return kept => someOf(parts, kept)
  }

  #addItems({ scope, builder, tree }: Growing): readonly KeptOf[] {
    const { items } = this.#source.found
    const only = scope.items === undefined ? undefined : new Set(scope.items)
    return this.#nodes.map((node, index) => {
      if (only?.has(index) === false) return nothing
      const top = builder.add(0)
      if (scope.required === true) builder.require(top)
      const place = { kind: this.list.kind, form: this.#form, factor: this.#factors[index]!, top }
      return tree.addItem(node, items[index]!, place)
    })
  }

  /** Items of which anything is kept. */
  #itemsIn(kept: KeptPart): readonly number[] {
    const { path, items } = this.#source.found
    let inner: KeptPart | null = kept
    for (const index of path)
      inner = inner?.kind === 'some' ? (inner.children[index] ?? null) : inner
    if (inner === null) return []
    const all = items.map((_, index) => index)
    if (inner.kind !== 'some') return all
    const { children } = inner
    return all.filter(index => (children[index] ?? null) !== null)
  }
}

/** The tree of a scope while it grows. */
interface Growing {
  readonly scope: Scope
  readonly builder: TreeBuilder
  readonly tree: JsonTree
}

/** A value on the way to the list. */
interface PathStep {
  readonly node: PricedNode
  readonly value: Value
  readonly depth: number
}

/** The list that makes up most of a value. */
interface FoundItems {
  /** Indexes of the members on the way to it. */
  readonly path: readonly number[]
  readonly items: readonly Value[]
}

/** A shorter list gives no choice. */
const LEAST_ITEMS = 2
/** Least share of the value's tokens that the list must have. */
const LEAST_SHARE = 0.5
/** Objects around the list, at most. */
const DEEPEST = 6

/** The list at the root, or in the largest member of the object there, and so on. */
function findItems(value: Value, root: PricedNode, totals: Totals): FoundItems | null {
  const least = totalOf(root, totals) * LEAST_SHARE
  const path: number[] = []
  let node = root
  let inner = value
  while (node.children !== undefined && totalOf(node, totals) >= least) {
    if (!(inner instanceof ObjectValue)) {
      const items = inner as readonly Value[]
      return items.length < LEAST_ITEMS ? null : { path, items }
    }
    if (path.length === DEEPEST) return null
    const index = largestOf(node.children, totals)
    path.push(index)
    node = node.children[index]!
    inner = inner.values[index]!
  }
  return null
}

function largestOf(children: readonly PricedNode[], totals: Totals): number {
  let largest = 0
  children.forEach((child, index) => {
    if (totalOf(child, totals) > totalOf(children[largest]!, totals)) largest = index
  })
  return largest
}
