import type { KeyList } from './key-lists.ts'
import type { Pricer } from './pricer.ts'

/** Lists of keys that are looked for in the text. */
const LISTS = 12
/** Parts of a long text that are searched, and their length. */
const PARTS = 16
const PART_CHARS = 4096
/** Of the text's tokens that shapes must be able to save, at least. */
const LEAST_SHARE = 0.003
/** A character after which a longer name begins like the key. */
const IN_NAME = /\w/

/** Tokens of an object in its shape in addition to its cells, and of a key's signs. */
const SHAPE_TOKENS = 2
const KEY_SIGNS = 1

/**
 * Whether declared shapes may save enough in the text that was written without them: whether it has
 * the keys of enough objects. The longest key of each list represents the others.
 */
export function maySave(lists: readonly KeyList[], text: string, pricer: Pricer): boolean {
  const searched = sampleOf(text)
  const scale = text.length / searched.length
  const least = LEAST_SHARE * pricer.tokens(searched)
  let saved = 0
  for (const { keys } of lists.slice(0, LISTS)) {
    const longest = keys.reduce((long, key) => (key.length > long.length ? key : long))
    const written = countKey(searched, longest) * scale - 1
    if (written <= 0) continue
    const each = pricer.tokens(keys.join(' ')) + keys.length * KEY_SIGNS - SHAPE_TOKENS
    saved += written * each
    if (saved > least * scale) return true
  }
  return false
}

function sampleOf(text: string): string {
  if (text.length <= PARTS * PART_CHARS) return text
  const step = text.length / PARTS
  let sample = ''
  for (let at = 0; at < text.length; at += step) {
    sample += text.slice(Math.floor(at), Math.floor(at) + PART_CHARS)
  }
  return sample
}

/** How often a key is written, in a header too; a value that contains it counts as well. */
function countKey(text: string, key: string): number {
  if (key === '') return 0
  let count = 0
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length)) {
    if (!IN_NAME.test(text.charAt(at + key.length))) count++
  }
  return count
}
