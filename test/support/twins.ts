import { hash } from 'node:crypto'

/**
 * Two texts whose SHA-256 have the same first digits: some 80,000 are tried for 8 of them.
 * @param text one for each number
 */
export function twins(text: (i: number) => string, digits = 8): [string, string] {
  const seen = new Map<string, number>()
  for (let i = 0; ; i++) {
    const prefix = hash('sha256', text(i)).slice(0, digits)
    const other = seen.get(prefix)
    if (other !== undefined) return [text(other), text(i)]
    seen.set(prefix, i)
  }
}
