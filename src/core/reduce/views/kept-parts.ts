import { ALL, type KeptPart } from '../budget/priced-node.ts'

/** What both of two choices from one value keep; `null` if that is nothing. */
export function keptByBoth(a: KeptPart | null, b: KeptPart | null): KeptPart | null {
  if (a === null || b === null) return null
  if (a.kind === 'all') return b
  if (b.kind === 'all') return a
  if (a.kind === 'cut' || b.kind === 'cut') {
    const chars = [a, b].flatMap(each => (each.kind === 'cut' ? [each.chars] : []))
    return { kind: 'cut', chars: chars.reduce((a, b) => Math.min(a, b), Infinity) }
  }
  if (a.kind === 'text') return a
  if (b.kind === 'text') return b
  const children = a.children.map((child, at) => keptByBoth(child, b.children[at] ?? null))
  if (children.every(child => child === ALL)) return ALL
  return children.every(child => child === null) ? null : { kind: 'some', children }
}
