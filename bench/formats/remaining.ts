import { PASSTHROUGH } from '../../src/core/formats/passthrough.ts'
import { formatLabel } from '../../src/core/formats/text/text-format.ts'
import { encode } from '../../src/index.ts'
import { keySpans } from './key-spans.ts'
import { createTokenBytes } from './token-bytes.ts'

/** What a token is made of: a key or header, else by its characters. */
export const TOKEN_KINDS = ['keys', 'words', 'digits', 'punctuation', 'white space'] as const
type TokenKind = (typeof TOKEN_KINDS)[number]

/** The tokens that are left in all results of one format, or of one shape that passes through. */
export interface Remaining {
  readonly name: string
  results: number
  tokens: number
  readonly kinds: Record<TokenKind, number>
}

/**
 * What our output's tokens consist of, by format, and by shape where the input was sent as it came.
 * A token that begins (blanks apart) in a key, a column's name or a header counts as `keys`,
 * whatever it is of; `words` have a letter, `digits` a digit and no letter.
 */
export function measureRemaining(texts: readonly string[]): readonly Remaining[] {
  const tokenBytes = createTokenBytes('o200k_base')
  const byName = new Map<string, Remaining>()
  for (const text of texts) {
    const { content, format, shape } = encode({ content: text })
    const label = formatLabel(format)
    const name = label === PASSTHROUGH ? `${label}, ${shape}` : label
    const sums = byName.get(name) ?? zero(name)
    byName.set(name, sums)
    const bytes = Buffer.from(content)
    const keys = markKeys(content, bytes.length, keySpans(label, content))
    let at = 0
    for (const length of tokenBytes(content)) {
      sums.kinds[kindOf(bytes, keys, at, at + length)]++
      sums.tokens++
      at += length
    }
    sums.results++
  }
  return [...byName.values()]
    .filter(({ tokens }) => tokens > 0)
    .toSorted((a, b) => b.tokens - a.tokens)
}

/** A 1 for every byte of a key. */
function markKeys(
  content: string,
  length: number,
  spans: readonly (readonly [number, number])[],
): Uint8Array {
  const marks = new Uint8Array(length)
  let chars = 0
  let bytes = 0
  for (const [start, end] of spans) {
    bytes += Buffer.byteLength(content.slice(chars, start))
    const size = Buffer.byteLength(content.slice(start, end))
    marks.fill(1, bytes, bytes + size)
    bytes += size
    chars = end
  }
  return marks
}

function kindOf(bytes: Uint8Array, keys: Uint8Array, start: number, end: number): TokenKind {
  let first = start
  while (first < end && bytes[first]! <= 0x20) first++
  if (first === end) return 'white space'
  if (keys[first] === 1) return 'keys'
  const part = bytes.subarray(first, end)
  // Bytes of other scripts count as letters.
  if (part.some(byte => byte >= 0x80 || ((byte | 0x20) - 0x61) >>> 0 < 26)) return 'words'
  return part.some(byte => byte >= 0x30 && byte <= 0x39) ? 'digits' : 'punctuation'
}

function zero(name: string): Remaining {
  const kinds = { keys: 0, words: 0, digits: 0, punctuation: 0, 'white space': 0 }
  return { name, results: 0, tokens: 0, kinds }
}
