/** A text as it is kept. */
export interface TextBytes {
  readonly bytes: Uint8Array
  readonly media_type: string
}

/**
 * Media types of kept texts. The second is for texts with lone surrogates, which UTF-8 lacks:
 * WTF-8 writes each as the three bytes that UTF-8 forbids (https://simonsapin.github.io/wtf-8/), so
 * that two different texts never have the same bytes.
 */
export const TEXT_TYPES = {
  utf8: 'text/plain; charset=utf-8',
  wtf8: 'text/plain; charset=wtf-8',
} as const

const encoder = new TextEncoder()
// A byte order mark is part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** In patterns with the flag `u`, a surrogate that stands alone. */
const LONE = /\p{Surrogate}/gu
/**
 * First byte of a surrogate, and the least second one, which no character of UTF-8 has after it.
 */
const LEAD = 0xed
const LEAST_SECOND = 0xa0

/** UTF-8 if that can be decoded to the same text, otherwise WTF-8. */
export function toBytes(text: string): TextBytes {
  if (text.isWellFormed()) return { bytes: encoder.encode(text), media_type: TEXT_TYPES.utf8 }
  const pieces: Uint8Array[] = []
  let from = 0
  for (const { index } of text.matchAll(LONE)) {
    pieces.push(encoder.encode(text.slice(from, index)), surrogateBytes(text.charCodeAt(index)))
    from = index + 1
  }
  pieces.push(encoder.encode(text.slice(from)))
  return { bytes: new Uint8Array(Buffer.concat(pieces)), media_type: TEXT_TYPES.wtf8 }
}

/** The very text that `toBytes` was given. */
export function toText({ bytes, media_type }: TextBytes): string {
  if (media_type !== TEXT_TYPES.wtf8) return decoder.decode(bytes)
  let text = ''
  let from = 0
  for (let at = bytes.indexOf(LEAD); at !== -1; at = bytes.indexOf(LEAD, at + 1)) {
    const second = bytes[at + 1] as number
    if (second < LEAST_SECOND) continue
    const low = bytes[at + 2] as number
    text += decoder.decode(bytes.subarray(from, at))
    text += String.fromCharCode(0xd000 | ((second & 0x3f) << 6) | (low & 0x3f))
    from = at + 3
  }
  return text + decoder.decode(bytes.subarray(from))
}

/** The three bytes that the rule for characters below 65,536 gives. */
function surrogateBytes(unit: number): Uint8Array {
  return Uint8Array.of(LEAD, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f))
}
