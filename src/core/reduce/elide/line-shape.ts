/** Characters of a line's beginning that make its shape. */
const SHAPE_CHARS = 48

const DIGIT_0 = 48
const DIGIT_9 = 57

/** FNV-1a, 32 bits. */
const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193

/**
 * What a line begins like, as a hash: of its first characters with each run of digits as one, so
 * that lines which one statement of a program printed have the same. Different shapes may, rarely,
 * have the same hash; then a line that is rare is not seen as such. Bounded work for a line,
 * however long, and no memory.
 */
export function lineShape(line: string): number {
  let hash = OFFSET_BASIS
  let wasDigit = false
  const end = Math.min(line.length, SHAPE_CHARS)
  for (let at = 0; at < end; at++) {
    const c = line.charCodeAt(at)
    const isDigit = c >= DIGIT_0 && c <= DIGIT_9
    if (!(isDigit && wasDigit)) hash = Math.imul(hash ^ (isDigit ? DIGIT_0 : c), PRIME)
    wasDigit = isDigit
  }
  return hash
}
