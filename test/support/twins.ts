import { hash } from 'node:crypto'

/**
 * Two texts whose SHA-256 have the same first digits: some 80,000 are tried for 8 of them.
 * @param text one for each number
 * @param known the numbers of the two, which a search has found
 */
export function twins(
  text: (i: number) => string,
  known?: readonly [number, number],
  digits = 8,
): [string, string] {
  const idOf = (i: number) => hash('sha256', text(i)).slice(0, digits)
  if (known !== undefined && idOf(known[0]) === idOf(known[1])) {
    return [text(known[0]), text(known[1])]
  }
  const seen = new Map<string, number>()
  for (let i = 0; ; i++) {
    const prefix = idOf(i)
    const other = seen.get(prefix)
    if (other !== undefined) return [text(other), text(i)]
    seen.set(prefix, i)
  }
}
