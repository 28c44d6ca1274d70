import type { Cut } from './priced-node.ts'

/** Texts of fewer tokens are kept or omitted as a whole. */
const SHORTEST_CUT_TEXT = 48
/** Shortest prefix that has any meaning, in tokens. */
const LEAST_TOKENS = 12
/**
 * Each cut has this share of the next longer one, so that a text fills at least as much of any
 * room.
 */
const NEXT_SHARE = 0.8
/** Tokens of the mark after a prefix. */
const MARK_TOKENS = 6

/** The value of the first share of a text, of the whole. */
const CUT_VALUES = {
  /** For a field: its first words mean more than its last words. */
  early: (share: number): number => Math.sqrt(share),
  /** For a part of a text, like every other. */
  even: (share: number): number => share,
} as const

/**
 * Prefixes of a text that may represent it, the shortest first: four fifths of it, four fifths of
 * that, and so on.
 * @param tokens of the whole text, whose value is `value`
 */
export function cutsOf(
  text: string,
  { tokens, value, by }: { tokens: number; value: number; by: keyof typeof CUT_VALUES },
): readonly Cut[] {
  if (tokens < SHORTEST_CUT_TEXT) return []
  const cuts: Cut[] = []
  for (let share = NEXT_SHARE; tokens * share >= LEAST_TOKENS; share *= NEXT_SHARE) {
    cuts.push({
      cost: Math.ceil(tokens * share) + MARK_TOKENS,
      value: value * CUT_VALUES[by](share),
      chars: Math.floor(text.length * share),
    })
  }
  return cuts.reverse()
}

/**
 * The prefix with a mark that has the number of missing characters; never cut inside a surrogate
 * pair.
 */
export function cutText(text: string, chars: number): string {
  const end = cutEnd(text, chars)
  return text.slice(0, end) + gapOfChars(text.length - end)
}

/** The end of a prefix of `chars` code units, or one before, so that no surrogate pair is cut. */
export function cutEnd(text: string, chars: number): number {
  return isLead(text.charCodeAt(chars - 1)) ? chars - 1 : chars
}

/** The mark that replaces so many UTF-16 code units of a text. */
export function gapOfChars(chars: number): string {
  return `…[+${chars} chars]`
}

function isLead(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}
