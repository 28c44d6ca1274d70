import type { Value } from '../../json/value.ts'
import type { KeptPart } from './priced-node.ts'

/** Parts that are kept, and parts that are not, by the index of a line, or of an item of a list. */
export interface ChosenParts {
  readonly lines?: { readonly kept: ReadonlySet<number>; readonly others: ReadonlySet<number> }
  readonly items?: { readonly kept: KeptPart; readonly others: ItemSet }
}

/** Items of lists by their index. */
export type ItemSet = ReadonlyMap<readonly Value[], ReadonlySet<number>>

/** What either of two choices from one value keeps. */
export function keptByEither(a: KeptPart | null, b: KeptPart | null): KeptPart | null {
  if (a === null || b === null) return a ?? b
  if (a.kind !== 'some') return a
  if (b.kind !== 'some') return b
  const children = a.children.map((child, at) => keptByEither(child, b.children[at] ?? null))
  return { kind: 'some', children }
}
