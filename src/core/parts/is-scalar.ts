/** Words and numbers of JSON as bytes; made of no strings, for lists have millions of them. */
const WORDS = ['true', 'false', 'null'].map(word => new TextEncoder().encode(word))

const ZERO = 0x30
const NINE = 0x39
const MINUS = 0x2d
const PLUS = 0x2b
const DOT = 0x2e
/** The bit by which a small letter differs from a capital one. */
const CASE = 0x20
const LOWER_E = 0x65

/**
 * Whether the bytes `[start, end)` are `true`, `false`, `null` or a number, as RFC 8259 spells
 * them.
 */
export function isScalar(body: Uint8Array, start: number, end: number): boolean {
  if (start >= end) return false
  const first = body[start]!
  if (first === MINUS || isDigit(first)) return isNumber(body, start, end)
  return WORDS.some(word => isWord(body, start, end, word))
}

function isWord(body: Uint8Array, start: number, end: number, word: Uint8Array): boolean {
  if (end - start !== word.length) return false
  for (let i = 0; i < word.length; i++) if (body[start + i] !== word[i]) return false
  return true
}

function isNumber(body: Uint8Array, start: number, end: number): boolean {
  let at = body[start] === MINUS ? start + 1 : start
  const whole = digits(body, at, end)
  if (whole === at || (body[at] === ZERO && whole > at + 1)) return false
  at = whole
  if (at < end && body[at] === DOT) {
    const fraction = digits(body, at + 1, end)
    if (fraction === at + 1) return false
    at = fraction
  }
  if (at < end && (body[at]! | CASE) === LOWER_E) {
    at++
    if (at < end && (body[at] === PLUS || body[at] === MINUS)) at++
    const exponent = digits(body, at, end)
    if (exponent === at) return false
    at = exponent
  }
  return at === end
}

/** The offset after the digits from `at` on. */
function digits(body: Uint8Array, at: number, end: number): number {
  let to = at
  while (to < end && isDigit(body[to]!)) to++
  return to
}

function isDigit(c: number): boolean {
  return c >= ZERO && c <= NINE
}
