import { type Choice, type Choices, MOST_CHOICES } from './choices.ts'
import type { Opening } from './opening.ts'
import { ALL, extraOf, type Kept, type PricedNode } from './priced-node.ts'

/**
 * Children of one open container that are decided on together: one, or a run if there are very
 * many.
 */
export interface PlanClass {
  readonly parent: PricedNode
  readonly indexes: readonly number[]
  /** Tokens that go with any choice. */
  readonly extra: number
  readonly choices: readonly Choice[]
}

/**
 * Children of one container that are classes of their own; more of them stand in runs of equal
 * length.
 */
const MOST_CLASSES = 2_048
/** Choices of all classes together, about; if classes are few, each has more. */
const CHOICES = 4_096

/** The classes of a document that is opened so, in its order. Required nodes are none. */
export function classesOf(
  root: PricedNode,
  opening: Opening,
  choicesOf: Choices,
): readonly PlanClass[] {
  const runs = runsOf(root, opening)
  const most = Math.max(MOST_CHOICES, Math.floor(CHOICES / runs.length))
  return runs.map(({ parent, indexes }) => {
    const form = opening.forms.get(parent)!
    const nodes = indexes.map(index => parent.children![index]!)
    const [node] = nodes
    if (node !== undefined && nodes.length === 1) {
      const extra = extraOf(node, form)
      return { parent, indexes, extra, choices: choicesOf(node, form, most) }
    }
    // A run has no frame: its choices are the best sets of its members' choices.
    const run = { own: 0, key: 0, worth: 0, children: nodes }
    return { parent, indexes, extra: 0, choices: choicesOf(run, form, most) }
  })
}

interface Run {
  readonly parent: PricedNode
  readonly indexes: readonly number[]
}

function runsOf(root: PricedNode, { forms }: Opening): readonly Run[] {
  const runs: Run[] = []
  const visit = (parent: PricedNode): void => {
    const { children = [] } = parent
    const length = Math.ceil(children.length / MOST_CLASSES)
    let indexes: number[] = []
    children.forEach((child, index) => {
      if (forms.has(child)) visit(child)
      else if (child.required !== true && indexes.push(index) === length) {
        runs.push({ parent, indexes })
        indexes = []
      }
    })
    if (indexes.length > 0) runs.push({ parent, indexes })
  }
  visit(root)
  return runs
}

/**
 * What is kept of the whole document.
 * @param picks the choice of each class, `null` for nothing
 */
export function keptOf(
  root: PricedNode,
  { forms }: Opening,
  classes: readonly PlanClass[],
  picks: readonly (Choice | null)[],
): Kept {
  const parts = new Map<PricedNode, (Kept | null)[]>()
  for (const node of forms.keys())
    parts.set(
      node,
      (node.children ?? []).map(() => null),
    )
  classes.forEach(({ parent, indexes }, at) => {
    const kept = picks[at]?.kept()
    if (kept === undefined) return
    const own = parts.get(parent)!
    if (indexes.length === 1) own[indexes[0]!] = kept
    else {
      indexes.forEach((index, i) => {
        own[index] = kept.kind === 'some' ? (kept.children[i] ?? null) : kept
      })
    }
  })
  const assemble = (node: PricedNode): Kept => {
    const children = parts.get(node)!
    node.children?.forEach((child, index) => {
      if (child.required === true) children[index] = ALL
      else if (forms.has(child)) {
        const kept = assemble(child)
        // Brackets with nothing in them would mean that there was nothing.
        children[index] = keepsAny(kept) ? kept : null
      }
    })
    return { kind: 'some', children }
  }
  return assemble(root)
}

function keepsAny(kept: Kept): boolean {
  return kept.kind !== 'some' || kept.children.some(child => child !== null)
}
