import type { Document } from '../../src/core/reduce/budget/document.ts'
import { totalValue } from '../../src/core/reduce/budget/plan.ts'
import type { PricedNode } from '../../src/core/reduce/budget/priced-node.ts'

/** Levels of containers that are looked into: an envelope, and the lists in it. */
const LEVELS = 2

/**
 * The same document for a knapsack with one format: items of the lists at the top are taken as they
 * are in compact JSON, or left.
 */
export function binaryDocument(document: Document): Document {
  return { ...document, root: collapse(document.root, LEVELS) }
}

function collapse(node: PricedNode, levels: number): PricedNode {
  const { children, tableOwn: _, ...rest } = node
  if (children === undefined) {
    const { cuts: __, ...leaf } = rest
    return leaf
  }
  if (levels === 0) return { own: jsonTokens(node), key: node.key, value: totalValue(node) }
  return { ...rest, children: children.map(child => collapse(child, levels - 1)) }
}

/** Tokens that quotes, a colon and a comma add to each member or item, about. */
const PUNCTUATION = 2

/** Tokens in compact JSON, about; the text that is written is counted exactly. */
function jsonTokens({ own, key, children = [] }: PricedNode): number {
  const inner = children.reduce((sum, child) => sum + jsonTokens(child) + PUNCTUATION, 0)
  return own + key + inner
}
