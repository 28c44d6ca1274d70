import { hash } from 'node:crypto'

/** A word of letters and digits, another one for each seed. */
export function word(seed: number): string {
  return ((seed * 2_654_435_761) % 4_294_967_296).toString(36)
}

export function words(count: number, seed: number): string {
  return Array.from({ length: count }, (_, i) => word(seed + i)).join(' ')
}

/** Lines that no format makes smaller, other ones for each seed. */
export function page(seed: number, lines = 20): string {
  return Array.from({ length: lines }, (_, i) => hash('sha256', `${seed} ${i}`, 'base64url')).join(
    '\n',
  )
}
