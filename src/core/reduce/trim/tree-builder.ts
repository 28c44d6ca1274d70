import type { TrimTree } from '../../solvers/tree/tree.ts'
import { ALL, type KeptPart, type PricedNode } from '../budget/priced-node.ts'
import type { KeptOf } from './plan-tree.ts'

/** Grows a tree of parts from its root, which is node 0 and costs nothing yet. */
export interface TreeBuilder {
  /**
   * A new node below `parent`, by its number. Tokens may be fractions; they are rounded up in the
   * end.
   */
  add(parent: number, cost?: number, value?: number): number
  /** Adds cost and value to a node. */
  grow(node: number, cost: number, value: number): void
  /** The node must be kept, with all above it. */
  require(node: number): void
  build(): TrimTree
}

export function createTreeBuilder(): TreeBuilder {
  const parents: number[] = [-1]
  const costs: number[] = [0]
  const values: number[] = [0]
  const required: number[] = []
  return {
    add(parent, cost = 0, value = 0) {
      parents.push(parent)
      costs.push(cost)
      values.push(value)
      return parents.length - 1
    },
    grow(node, cost, value) {
      costs[node]! += cost
      values[node]! += value
    },
    require(node) {
      required.push(node)
    },
    build() {
      const flags = new Uint8Array(parents.length)
      for (const node of required) flags[node] = 1
      return {
        parent: Int32Array.from(parents),
        cost: Int32Array.from(costs, Math.ceil),
        value: Float64Array.from(values),
        ...(required.length === 0 ? {} : { required: flags }),
      }
    },
  }
}

/** The shorter of two prefixes of a text has at most this share of the longer one's tokens. */
const NEXT_SHARE = 0.6

/** The place at which the chain of a text starts. */
interface ChainPlace {
  /** The node above it. */
  readonly below: number
  /** Tokens that go with any part of it, a key or a separator. */
  readonly extra: number
  /** Multiplies its value. */
  readonly scale: number
  /** Whether its first piece goes with the node above it, whatever that costs. */
  readonly startsInside: boolean
}

/** A leaf as a chain: its shortest prefix, and what each longer one adds, to the whole. */
export function addTextChain(builder: TreeBuilder, leaf: PricedNode, place: ChainPlace): KeptOf {
  const steps = stepsOf(leaf)
  let first = place.below
  let above = place.below
  let cost = 0
  let value = 0
  steps.forEach((step, index) => {
    const addedCost = step.cost - cost + (index === 0 ? place.extra : 0)
    const addedValue = Math.max(0, step.value - value) * place.scale
    if (index === 0 && place.startsInside) builder.grow(above, addedCost, addedValue)
    else above = builder.add(above, addedCost, addedValue)
    if (index === 0) first = above
    cost = step.cost
    value = step.value
  })
  return keptOfChain(leaf, first, above)
}

/**
 * A tree has mostly chains, so only two numbers are kept of each. The steps are those of the leaf.
 * @param first node of the chain, which may be the one above it
 * @param last the nodes after the first have the numbers up to this one
 */
function keptOfChain(leaf: PricedNode, first: number, last: number): KeptOf {
  return kept => {
    if (kept[first] === 0) return null
    const steps = stepsOf(leaf)
    let at = steps.length - 1
    while (at > 0 && kept[last - (steps.length - 1 - at)] === 0) at--
    return steps[at]!.kept
  }
}

interface Step {
  readonly cost: number
  readonly value: number
  readonly kept: KeptPart
}

/** The shortest first; prefixes that are nearly as long as the next longer one are skipped. */
function stepsOf({ own, value, cuts = [] }: PricedNode): readonly Step[] {
  const steps: Step[] = [{ cost: own, value, kept: ALL }]
  for (const cut of cuts.toReversed()) {
    if (cut.cost > steps.at(-1)!.cost * NEXT_SHARE) continue
    steps.push({ cost: cut.cost, value: cut.value, kept: { kind: 'cut', chars: cut.chars } })
  }
  return steps.reverse()
}
