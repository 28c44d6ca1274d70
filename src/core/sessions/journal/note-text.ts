import { deflateRawSync, inflateRawSync } from '../../base/zlib-calls.ts'

/** What the notes of a change have in common with what a reader knows. */
export interface KnownTexts {
  /** Texts that it knows; at most two. */
  readonly words: readonly string[]
  /** Hashes that are in the change, 64 hex digits each. */
  readonly hashes: readonly string[]
}

/**
 * Notes are JSON, which has no control characters. So each control character represents something:
 * the start of a hash of the change (its index and its digits follow), a known word, or a fragment.
 */
const HASH = '\x01'
const FIRST_WORD = 2
const MOST_WORDS = 2
const FIRST_FRAGMENT = FIRST_WORD + MOST_WORDS
/** Added to an index or a number of digits, so that it is no control character. */
const FIRST_PRINTED = 32
const MOST_HASHES = 90

/**
 * Frequent parts of notes. Never edit the list: stored changes need it. A better one needs another
 * version of changes.
 */
const FRAGMENTS = [
  '{"by":"itself"}',
  '{"by":"session","answer":{"content":"',
  '{"tool":"',
  '","argument":"',
  '"sequence":',
  ',"hops":',
  ' calls ago]',
  ' 1 call ago]',
  '> [ref ',
  '","layer":"L0","format":"ref@1","shape":"',
  '","layer":"L1","format":"',
  '","inner_formats":[],"tokens":{"tokenizer":"o200k_base","exact":true,"baseline":',
  ',"final":',
  '},"lossless":true,"ref":"',
  '","hints":[{"family":"reference","text":"',
  '"}],"elided":[],"savings":{"dedup_tokens":',
  ',"encoder_tokens":0,"elided_tokens":0},"bytes":{"raw":',
  ',"output":',
  '},"truncated":false,"partition":',
  '},"dependencies":[{"session":',
  ',"ref":"',
  '","identity":"',
  '","context":',
  '"skipped":[],"warnings":[],',
  '{"sequence":',
  ',"sent":[0,0,0,0,0,0,0]',
  'array_of_objects',
  '"}]',
] as const

const codes = new Map<string, string>(
  FRAGMENTS.map((fragment, i) => [fragment, String.fromCharCode(FIRST_FRAGMENT + i)]),
)
const ANY_FRAGMENT = new RegExp(
  [...FRAGMENTS]
    .sort((a, b) => b.length - a.length)
    .map(fragment => fragment.replace(/[^\w ]/g, '\\$&'))
    .join('|'),
  'g',
)
// biome-ignore lint/suspicious/noControlCharactersInRegex: they represent fragments
const ANY_CODE = /[\x04-\x1f]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: it represents a hash
const ANY_HASH = /\x01([ -\u007f])([ -\u007f])/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: notes that have one are not shortened
const ANY_CONTROL = /[\x00-\x1f]/
const HEX = /[0-9a-f]{8,64}/g

/** The first byte: how the note is written. */
const PLAIN = 0
const SHORTENED = 1
const DEFLATED = 2
/** Shorter ones become hardly smaller, and it takes 30 µs. */
const DEFLATE_FROM_BYTES = 256
/** No note that is kept is longer. */
const MAX_INFLATED_BYTES = 1 << 20

/** A note in few bytes. */
export function shortenNote(note: string, known: KnownTexts): Uint8Array {
  if (ANY_CONTROL.test(note)) return Buffer.concat([Buffer.of(PLAIN), Buffer.from(note)])
  const shortened = Buffer.from(shorten(note, known))
  if (shortened.byteLength < DEFLATE_FROM_BYTES)
    return Buffer.concat([Buffer.of(SHORTENED), shortened])
  return Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(shortened)])
}

/** @throws SyntaxError for bytes that `shortenNote` has not written */
export function expandNote(bytes: Buffer, known: KnownTexts): string {
  const rest = bytes.subarray(1)
  switch (bytes[0]) {
    case PLAIN:
      return rest.toString()
    case SHORTENED:
      return expand(rest.toString(), known)
    case DEFLATED:
      return expand(inflated(rest), known)
    default:
      throw new SyntaxError('this is no note')
  }
}

function inflated(bytes: Buffer): string {
  try {
    return inflateRawSync(bytes, { maxOutputLength: MAX_INFLATED_BYTES }).toString()
  } catch {
    throw new SyntaxError('a note is damaged')
  }
}

function shorten(note: string, { words, hashes }: KnownTexts): string {
  let text = note
  for (const [i, word] of words.slice(0, MOST_WORDS).entries())
    text = text.replaceAll(word, String.fromCharCode(FIRST_WORD + i))
  text = text.replace(HEX, digits => {
    const index = hashes.findIndex(hash => hash.startsWith(digits))
    if (index < 0 || index >= MOST_HASHES) return digits
    return HASH + String.fromCharCode(FIRST_PRINTED + index, FIRST_PRINTED + digits.length)
  })
  return text.replace(ANY_FRAGMENT, fragment => codes.get(fragment)!)
}

/** The steps of `shorten`, the last one first. */
function expand(shortened: string, { words, hashes }: KnownTexts): string {
  let text = shortened.replace(
    ANY_CODE,
    code => FRAGMENTS[code.charCodeAt(0) - FIRST_FRAGMENT] ?? '',
  )
  text = text.replace(ANY_HASH, (_, index: string, digits: string) => {
    const hash = hashes[index.charCodeAt(0) - FIRST_PRINTED]
    if (hash === undefined) throw new SyntaxError('a note names a hash that is not there')
    return hash.slice(0, digits.charCodeAt(0) - FIRST_PRINTED)
  })
  for (const [i, word] of words.slice(0, MOST_WORDS).entries())
    text = text.replaceAll(String.fromCharCode(FIRST_WORD + i), () => word)
  return text
}
