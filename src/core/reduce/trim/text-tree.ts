import { cutsOf } from '../budget/cuts.ts'
import type { TextPart } from '../budget/price-text.ts'
import { ALL, type PricedNode } from '../budget/priced-node.ts'
import { isWithin, type Level } from './levels.ts'
import type { KeptOf } from './plan-tree.ts'
import type { TextBlock } from './text-items.ts'
import { addTextChain, type TreeBuilder } from './tree-builder.ts'

/** A part as pruning needs it, and the kept part of it. */
export interface GrownPart {
  readonly part: TextPart
  readonly keptOf: KeptOf
}

/** Represents the price of a part, which only the tree knows here. */
export const UNPRICED: PricedNode = { own: 0, key: 0, value: 0 }

/** The lines of a text with their tokens, and how they are cut into parts. */
interface TextPrices {
  readonly lines: readonly string[]
  readonly tokens: readonly number[]
  /** Tokens of one part, at most; a longer line may be cut. */
  readonly most: number
}

/** Adds the parts of a text to a tree. */
export interface TextTree {
  /** Lines in parts below one node. */
  addLines(start: number, end: number, below: number, factor: number): GrownPart[]
  /** One part below a node. */
  addRun(start: number, end: number, below: number, factor: number): GrownPart
  /** A block whose head is kept with `top`; its content is below. */
  addBlock(block: TextBlock, top: number, factor: number): GrownPart
  /** `[start, end)` in parts of at most `most` tokens, none across an edge. */
  runsOf(
    start: number,
    end: number,
    isEdge?: (at: number) => boolean,
  ): readonly (readonly [number, number])[]
}

/**
 * @param cap nothing of a higher level is kept: heads are minimal, the first block of each item is
 *   standard @param requires whether parts that must stay are required nodes
 */
export function createTextTree(
  builder: TreeBuilder,
  { lines, tokens, most }: TextPrices,
  { cap, requires }: { readonly cap: Level; readonly requires: boolean },
): TextTree {
  function sum(start: number, end: number): number {
    let all = 0
    for (let at = start; at < end; at++) all += tokens[at]!
    return all
  }

  function addRun(start: number, end: number, below: number, factor: number): GrownPart {
    const own = sum(start, end)
    const isLong = own > most && end - start === 1
    const cuts = isLong ? cutsOf(lines[start]!, { tokens: own, value: own, by: 'even' }) : []
    const leaf = { own, key: 0, value: own, cuts }
    const place = { below, extra: 0, scale: factor, startsInside: false }
    return { part: partOf(start, end), keptOf: addTextChain(builder, leaf, place) }
  }

  function addLines(start: number, end: number, below: number, factor: number): GrownPart[] {
    return runsOf(start, end).map(([from, to]) => addRun(from, to, below, factor))
  }

  function runsOf(start: number, end: number, isEdge: (at: number) => boolean = () => false) {
    const runs: (readonly [number, number])[] = []
    let from = start
    let cost = 0
    for (let at = start; at < end; at++) {
      if (at > from && (cost + tokens[at]! > most || isEdge(at))) {
        runs.push([from, at])
        from = at
        cost = 0
      }
      cost += tokens[at]!
    }
    if (from < end) runs.push([from, end])
    return runs
  }

  function addBlock(block: TextBlock, top: number, factor: number): GrownPart {
    const { start, end, head, tail, blocks } = block
    const own = sum(start, start + head) + sum(end - tail, end)
    builder.grow(top, own, own * factor)
    const [from, to] = [start + head, end - tail]
    if (blocks.length > 0) {
      const parts = blocks.map((inner, index) => {
        const level = index === 0 ? 'standard' : 'full'
        return isWithin(level, cap) ? addInner(inner, top, factor) : dropped(inner.start, inner.end)
      })
      return container(block, parts, kept => kept[top] === 1)
    }
    if (from === to)
      return { part: partOf(start, end), keptOf: kept => (kept[top] === 1 ? ALL : null) }
    const parts = isWithin('standard', cap) ? addLines(from, to, top, factor) : [dropped(from, to)]
    return container(block, parts, kept => kept[top] === 1)
  }

  function addInner(block: TextBlock, above: number, factor: number): GrownPart {
    const { start, end } = block
    if (block.required === true) {
      const node = builder.add(above, sum(start, end))
      if (requires) builder.require(node)
      return { part: partOf(start, end), keptOf: kept => (kept[node] === 1 ? ALL : null) }
    }
    if (block.head + block.tail > 0) return addBlock(block, builder.add(above), factor)
    const runs = addLines(start, end, above, factor)
    return container(block, runs, () => true)
  }

  return { addLines, addRun, addBlock, runsOf }
}

export function partOf(start: number, end: number): TextPart {
  return { node: UNPRICED, start, end }
}

/** A part that is not in the tree. */
function dropped(start: number, end: number): GrownPart {
  return { part: partOf(start, end), keptOf: () => null }
}

function container(
  { start, end, head, tail }: TextBlock,
  parts: readonly GrownPart[],
  isKept: (kept: Uint8Array) => boolean,
): GrownPart {
  return {
    part: { ...partOf(start, end), parts: parts.map(({ part }) => part) },
    keptOf(kept) {
      if (!isKept(kept)) return null
      const children = parts.map(part => part.keptOf(kept))
      // A block without head and tail has only its lines.
      if (head + tail === 0 && children.every(child => child === null)) return null
      return { kind: 'some', children }
    },
  }
}
