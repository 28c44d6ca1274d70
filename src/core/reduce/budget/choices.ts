import { ALL, extraOf, type Form, type KeptPart, type PricedNode } from './priced-node.ts'

/** A way to keep a node: its tokens and value, and what it keeps. */
export interface Choice {
  readonly cost: number
  readonly value: number
  kept(): KeptPart
}

/** Choices that a parent sees of a node at most; more make plans finer and slower. */
export const MOST_CHOICES = 16

/**
 * Choices are made bottom up. A container considers those choices of its children that are on the
 * upper concave hull of value over cost with the origin, and merges the children's steps by value
 * per token. The hull of a sum of independent sets is the merge of their hulls. So each of its
 * choices is a best one at its cost among those of its form (Sinha and Zoltners 1979). Recursion is
 * as deep as the node.
 */
export function createChoices(): Choices {
  const known = { keyed: new Map<PricedNode, Hull>(), row: new Map<PricedNode, Hull>() }

  function hullOf(node: PricedNode, form: Form): Hull {
    if (node.children === undefined) return hull(leafChoices(node))
    let found = known[form].get(node)
    if (found === undefined) {
      found = hull(containerChoices(node, form))
      known[form].set(node, found)
    }
    return found
  }

  function containerChoices(node: PricedNode, form: Form): Choice[] {
    const { own, tableOwn } = node
    const keyed = merged(node, own, form, child => hullOf(child, 'keyed'))
    if (tableOwn === undefined) return keyed
    return [...keyed, ...merged(node, tableOwn, form, child => hullOf(child, 'row'))]
  }

  return (node, form, most) =>
    node.children === undefined
      ? undominated(leafChoices(node))
      : thin(undominated(containerChoices(node, form)), most)
}

/**
 * The choices of a node that is decided on by itself, cheapest first. A choice that costs more also
 * has more value. A container has at most `most` choices, 2 or more.
 */
export type Choices = (node: PricedNode, form: Form, most: number) => readonly Choice[]

type Hull = readonly Choice[]

function leafChoices({ own, value, cuts = [] }: PricedNode): Choice[] {
  const shorter = cuts.map(({ cost, value: part, chars }) => ({
    cost,
    value: part,
    kept: (): KeptPart => ({ kind: 'cut', chars }),
  }))
  return [...shorter, { cost: own, value, kept: () => ALL }]
}

/** A child's next choice: what it adds to the one before. */
interface ChildChoice {
  readonly child: number
  readonly choice: Choice
  readonly cost: number
  readonly value: number
}

/**
 * A container's choices: its own tokens, and the best steps of its children one after the other.
 */
function merged(
  { children = [], value: ownValue }: PricedNode,
  own: number,
  form: Form,
  hullOfChild: (child: PricedNode) => Hull,
): Choice[] {
  const steps: ChildChoice[] = []
  children.forEach((node, child) => {
    const extra = extraOf(node, form)
    let cost = 0
    let value = 0
    for (const choice of concave(hullOfChild(node), extra)) {
      steps.push({ child, choice, cost: choice.cost + extra - cost, value: choice.value - value })
      cost = choice.cost + extra
      value = choice.value
    }
  })
  // The sort is stable: of equally good steps the earlier child's comes first, in every version of
  // Node.
  steps.sort((a, b) => b.value * a.cost - a.value * b.cost)
  const choices: Choice[] = []
  let cost = own
  let value = ownValue
  steps.forEach((step, index) => {
    cost += step.cost
    value += step.value
    choices.push({ cost, value, kept: () => keptBy(steps, index + 1, children.length) })
  })
  return choices
}

function keptBy(steps: readonly ChildChoice[], count: number, children: number): KeptPart {
  const kept: (KeptPart | null)[] = Array.from({ length: children }, () => null)
  // Only the last step of a child counts. Recursion for the others too would multiply the time at
  // every level.
  for (let i = count - 1; i >= 0; i--) {
    const { child, choice } = steps[i]!
    kept[child] ??= choice.kept()
  }
  return { kind: 'some', children: kept }
}

/**
 * The choices on the upper concave hull with the origin, at most `MOST_CHOICES` of them, the
 * dearest among them.
 */
function hull(choices: Choice[]): Hull {
  return thin(concave(undominated(choices), 0), MOST_CHOICES)
}

/**
 * The choices on the upper concave hull with the origin.
 * @param extra tokens that go with any of them; with such tokens, fewer choices are on the hull
 */
function concave(choices: Hull, extra: number): Hull {
  const kept: Choice[] = []
  for (const choice of choices) {
    while (kept.length > 0 && liesBelow(kept.at(-2), kept.at(-1)!, choice, extra)) kept.pop()
    kept.push(choice)
  }
  return kept
}

function undominated(choices: Choice[]): Hull {
  if (choices.length === 1) return choices[0]!.value > 0 ? choices : []
  let most = 0
  return choices
    .toSorted((a, b) => a.cost - b.cost || b.value - a.value)
    .filter(({ value }) => {
      const isMore = value > most
      if (isMore) most = value
      return isMore
    })
}

/** Whether `b` is on or below the line from `a` (the origin if there is none) to `c`. */
function liesBelow(a: Choice | undefined, b: Choice, c: Choice, extra: number): boolean {
  const cost = a?.cost ?? -extra
  const value = a?.value ?? 0
  return (b.value - value) * (c.cost - cost) <= (c.value - value) * (b.cost - cost)
}

/**
 * Keeps choices whose costs grow by about the same factor, because a budget may be any part of the
 * whole. Hulls stay hulls.
 */
function thin(choices: Hull, most: number): Hull {
  if (choices.length <= most) return choices
  const last = choices.at(-1)!
  const ratio = (last.cost / Math.max(1, choices[0]!.cost)) ** (1 / (most - 1))
  const picked: Choice[] = []
  let next = 0
  for (const choice of choices) {
    if (choice !== last && choice.cost < next) continue
    picked.push(choice)
    next = Math.max(1, choice.cost) * ratio
  }
  return picked
}
