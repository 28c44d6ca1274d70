import type { ObjectValue, Value } from '../../json/value.ts'
import { writeJson } from '../../json/write-json.ts'
import type { TrimAlgorithm } from '../../solvers/tree/trim-tree.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { Document } from '../budget/document.ts'
import { totalOf, totalsOf } from '../budget/opening.ts'
import { priceValue } from '../budget/price-value.ts'
import { extraOf, type Kept, type PricedNode, SEPARATOR } from '../budget/priced-node.ts'
import { pruneValue } from '../budget/prune-value.ts'
import type { Worths } from '../budget/strategies.ts'
import { findItems } from './find-items.ts'
import type { ItemDocument, Scope } from './item-document.ts'
import { jsonFacts } from './json-facts.ts'
import { createJsonTree, someOf } from './json-tree.ts'
import { kindOfItems } from './kinds.ts'
import { createTreePlanner, type KeptOf } from './plan-tree.ts'
import { uniform } from './strategies/position.ts'
import { summarizeValues } from './summaries.ts'
import { createTreeBuilder } from './tree-builder.ts'
import { weighItems } from './weigh.ts'

const nothing: KeptOf = () => null

/**
 * A JSON value that is a list of items, or has one that is most of it.
 * @returns `null` for any other
 */
export function jsonItems(
  value: Value,
  counter: TokenCounter,
  worths: Worths,
  { algorithm }: { readonly algorithm: TrimAlgorithm | 'auto' },
): ItemDocument | null {
  const root = priceValue(value, counter, { strategy: uniform, fields: worths.fields })
  const totals = totalsOf(root)
  const found = findItems(value, root, totals)
  if (found === null) return null
  const { path, items } = found
  const list = path.reduce((node, index) => node.children![index]!, root)
  const nodes = list.children!
  const form = list.tableOwn === undefined ? 'keyed' : 'row'
  const kind = kindOfItems(items)
  const tokens = nodes.map(node => tokensOf(node))
  const facts = items.map((item, index) => jsonFacts(item, tokens[index]!))
  const factors = weighItems(worths.strategy, facts)

  /** An item of a table takes no keys. */
  function tokensOf(node: PricedNode): number {
    if (form === 'keyed' || node.children === undefined) return totalOf(node, totals) + SEPARATOR
    return node.children.reduce((sum, cell) => sum + totalOf(cell, totals) + SEPARATOR, SEPARATOR)
  }

  function grow({ level, items: only, required = false }: Scope) {
    const builder = createTreeBuilder()
    const tree = createJsonTree(builder, totals, {
      cap: level,
      thread: worths.strategy.thread,
      weighed: worths.fields,
    })
    const scope = only === undefined ? undefined : new Set(only)

    function addItems(): KeptOf[] {
      return nodes.map((node, index) => {
        if (scope?.has(index) === false) return nothing
        const top = builder.add(0)
        if (required) builder.require(top)
        return tree.addItem(node, items[index]!, { kind, form, factor: factors[index]!, top })
      })
    }

    /** The way to the list, and what stands beside it. */
    function addPath(node: PricedNode, inner: Value, depth: number): KeptOf {
      const own = depth === path.length ? (node.tableOwn ?? node.own) : node.own
      builder.grow(0, own + (depth === 0 ? 0 : extraOf(node, 'keyed')), 0)
      if (depth === path.length) {
        const parts = addItems()
        return kept => someOf(parts, kept)
      }
      const { values } = inner as ObjectValue
      const parts = node.children!.map((child, index) => {
        if (index === path[depth]) return addPath(child, values[index]!, depth + 1)
        return scope === undefined ? tree.addBeside(child, values[index]!, 0) : nothing
      })
      return kept => someOf(parts, kept)
    }

    const keptOf = addPath(root, value, 0)
    return { tree: builder.build(), keptOf }
  }

  const none: Kept = { kind: 'some', children: root.children!.map(() => null) }

  return {
    list: {
      kind,
      tokens,
      summarize: chosen =>
        summarizeValues(
          kind,
          chosen.map(i => items[i]!),
          chosen,
        ),
    },
    scoped(scope): Document {
      let planner: ReturnType<typeof createTreePlanner> | undefined
      const plan = () => {
        if (planner === undefined) {
          const { tree, keptOf } = grow(scope)
          planner = createTreePlanner(tree, kept => keptOf(kept) ?? none, algorithm)
        }
        return planner
      }
      return {
        root,
        planner: plan,
        least: () => (scope.required === true ? plan().plan(0).kept : none),
        prune(kept) {
          const pruned = pruneValue(value, kept)
          const content = writeJson(pruned.value)
          return { content, omissions: pruned.omissions, items: itemsIn(kept) }
        },
      }
    },
  }

  /** Items of which anything is kept. */
  function itemsIn(kept: Kept): readonly number[] {
    let inner: Kept | null = kept
    for (const index of path)
      inner = inner?.kind === 'some' ? (inner.children[index] ?? null) : inner
    if (inner === null) return []
    const all = items.map((_, index) => index)
    if (inner.kind !== 'some') return all
    const { children } = inner
    return all.filter(index => (children[index] ?? null) !== null)
  }
}
