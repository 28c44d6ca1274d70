import fc from 'fast-check'
import {
  extraOf,
  type Form,
  type KeptPart,
  type PricedNode,
} from '../../../../../src/core/reduce/budget/priced-node.ts'

/** A way to keep a node, with what it costs and is worth. */
export interface Way {
  readonly cost: number
  readonly value: number
}

const leaf: fc.Arbitrary<PricedNode> = fc
  .record({
    own: fc.integer({ min: 1, max: 40 }),
    key: fc.nat(4),
    value: fc.nat(10),
    share: fc.constantFrom(0, 0.25, 0.5),
  })
  .map(({ own, key, value, share }) => {
    if (share === 0 || own < 8) return { own, key, value }
    const cut = { cost: Math.ceil(own * share) + 1, value: value * Math.sqrt(share), chars: 10 }
    return { own, key, value, cuts: [cut] }
  })

/** Priced documents so small that every way to keep them can be tried. */
export const smallTree: fc.Arbitrary<PricedNode> = fc.letrec<{ tree: PricedNode }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 2 },
    leaf,
    fc
      .record({
        own: fc.nat(3),
        key: fc.nat(4),
        children: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
        tableOwn: fc.option(fc.nat(12), { nil: undefined }),
      })
      .map(({ tableOwn, ...node }) => ({
        ...node,
        value: 0,
        ...(tableOwn === undefined ? {} : { tableOwn }),
      })),
  ),
})).tree

/**
 * Every way to keep something of a node.
 * @param inside how members of its children stand, where it is no table
 */
export function waysOf(node: PricedNode, form: Form, inside: Form = 'keyed'): readonly Way[] {
  const { children, cuts = [], own, value, tableOwn } = node
  if (children === undefined) return [...cuts, { cost: own, value }]
  const keyed = combine(children, child => waysOf(child, inside), form, { cost: own, value })
  if (tableOwn === undefined) return keyed
  const frame = { cost: tableOwn, value }
  return [...keyed, ...combine(children, child => waysOf(child, 'row'), form, frame)]
}

function combine(
  children: readonly PricedNode[],
  ways: (child: PricedNode) => readonly Way[],
  form: Form,
  frame: Way,
): readonly Way[] {
  let sums: (Way & { readonly kept: number })[] = [{ ...frame, kept: 0 }]
  for (const child of children) {
    const extra = extraOf(child, form)
    sums = sums.flatMap(sum => [
      sum,
      ...ways(child).map(way => ({
        cost: sum.cost + way.cost + extra,
        value: sum.value + way.value,
        kept: sum.kept + 1,
      })),
    ])
  }
  return sums.filter(({ kept }) => kept > 0)
}

/** The most that any way is worth at such a cost; 0 for nothing at all. */
export function bestAt(ways: readonly Way[], budget: number): number {
  return ways.reduce((best, { cost, value }) => (cost <= budget ? Math.max(best, value) : best), 0)
}

/** Worth of what is kept of a node. */
export function valueKept(node: PricedNode, kept: KeptPart | null): number {
  const { children = [], cuts = [], value } = node
  if (kept === null) return 0
  if (kept.kind === 'cut')
    return cuts.find(({ chars }) => chars === kept.chars)?.value ?? Number.NaN
  return children.reduce((sum, child, index) => {
    const inner = kept.kind === 'some' ? (kept.children[index] ?? null) : kept
    return sum + valueKept(child, inner)
  }, value)
}
