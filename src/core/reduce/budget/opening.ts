import { extraOf, type Form, type PricedNode } from './priced-node.ts'

/** Containers whose children are decided on one by one. */
export interface Opening {
  /** How the members of each are written. */
  readonly forms: ReadonlyMap<PricedNode, Form>
  /** Tokens around the children: brackets, headers, keys. */
  readonly frames: number
}

/** Tokens of every container as a whole, its key apart. */
export type Totals = ReadonlyMap<PricedNode, number>

/**
 * A container is opened if it has more than this share of the document. A larger share is used if
 * the frames of open containers would take too much of the budget.
 */
const OPENING_SHARES = [1 / 64, 1 / 16, 1 / 4, 1] as const
const FRAMES_SHARE = 1 / 4

/** The finest opening whose frames leave most of the budget for their children. */
export function openWithin(root: PricedNode, budget: number, totals: Totals): Opening {
  let opening = open(root, 1, totals)
  for (const share of OPENING_SHARES) {
    const finer = open(root, share, totals)
    if (finer.frames > budget * FRAMES_SHARE) continue
    opening = finer
    break
  }
  return opening
}

/**
 * The root, and containers below that have that share of it. Recursion is as deep as the document.
 */
function open(root: PricedNode, share: number, totals: Totals): Opening {
  const forms = new Map<PricedNode, Form>()
  const least = totalOf(root, totals) * share
  let frames = 0
  const visit = (node: PricedNode): void => {
    const inner = (node.children ?? []).filter(child => isLarge(child))
    const isTable = node.tableOwn !== undefined && inner.length === 0
    forms.set(node, isTable ? 'row' : 'keyed')
    frames += isTable ? node.tableOwn : node.own
    for (const child of inner) {
      frames += extraOf(child, 'keyed')
      visit(child)
    }
  }
  const isLarge = (child: PricedNode): boolean =>
    child.children !== undefined && child.sealed !== true && totalOf(child, totals) >= least
  visit(root)
  return { forms, frames }
}

/** Adds up every container below `root`. */
export function totalsOf(root: PricedNode): Totals {
  const totals = new Map<PricedNode, number>()
  const addUp = (node: PricedNode): number => {
    const { children } = node
    if (children === undefined) return node.own
    let total = node.own
    for (const child of children) total += addUp(child) + extraOf(child, 'keyed')
    totals.set(node, total)
    return total
  }
  addUp(root)
  return totals
}

export function totalOf(node: PricedNode, totals: Totals): number {
  return totals.get(node) ?? node.own
}
