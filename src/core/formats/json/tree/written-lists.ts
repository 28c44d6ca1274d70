import type { KeyList } from './key-lists.ts'
import type { Pricer } from './pricer.ts'

/** Lists of keys that are looked for in the text. */
const LISTS = 64
/** Parts of a long text that are searched, and their length. */
const PARTS = 16
const PART_CHARS = 4096
/** The least share of the text's tokens that shapes must be able to save. */
const LEAST_SHARE = 0.03
/** A character after which a longer name begins like the key. */
const IN_NAME = /\w/

/** Tokens of an object in its shape in addition to its cells, and of a key's signs. */
const SHAPE_TOKENS = 2
const KEY_SIGNS = 1

/** A document that was written, and its tokens, which are counted when they are first asked for. */
export interface WrittenText {
  readonly text: string
  tokens(this: void): number
}

/**
 * The lists of keys that the text has more than once, if shapes of them may save enough in it; none
 * otherwise. The longest key of each list represents the others.
 * @param plain the document as it was written without shapes
 */
export function writtenLists(
  lists: readonly KeyList[],
  { text, tokens }: WrittenText,
  pricer: Pricer,
): readonly KeyList[] {
  const searched = sampleOf(text)
  const scale = text.length / searched.length
  let counted: number | undefined
  const isEnough = () => {
    counted ??= searched === text ? tokens() : pricer.tokens(searched)
    return saved > LEAST_SHARE * scale * counted
  }
  const written: KeyList[] = []
  const names = new Set<string>()
  let saved = 0
  for (const list of lists.slice(0, LISTS)) {
    const { keys, objects } = list
    // A list of one object is of use only if it joins others, so most need not be looked for.
    if (objects.length === 1 && !hasHalf(keys, names) && written.length > 0 && isEnough()) continue
    const longest = keys.reduce((long, key) => (key.length > long.length ? key : long))
    // Times beyond the objects do not matter.
    const most = Math.ceil((objects.length + 1) / scale)
    const times = countKey(searched, longest, most) * scale - 1
    if (times <= 0) continue
    written.push(list)
    for (const key of keys) names.add(key)
    const each = pricer.tokens(keys.join(' ')) + keys.length * KEY_SIGNS - SHAPE_TOKENS
    saved += Math.min(times, objects.length) * each
  }
  return written.length > 0 && isEnough() ? written : []
}

/** Whether half of the keys, at least, are among these names: those of lists that it may join. */
function hasHalf(keys: readonly string[], names: ReadonlySet<string>): boolean {
  let shared = 0
  for (const key of keys) if (names.has(key)) shared++
  return 2 * shared >= keys.length
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

/**
 * How often a key is written, in a header too; a value that contains it counts as well. Counts up
 * to `most`.
 */
function countKey(text: string, key: string, most: number): number {
  if (key === '') return 0
  let count = 0
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length)) {
    if (IN_NAME.test(text.charAt(at + key.length))) continue
    count++
    if (count === most) break
  }
  return count
}
