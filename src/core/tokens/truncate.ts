/** The prefix of a text that fits a number of tokens. */
import type { TokenCounter } from './counter.ts'
import { PROFILES, tokenizerId } from './profiles.ts'
import { isSafeBoundary } from './safe-boundary.ts'

/** UTF-16 units that are counted at a time while they still fit. */
const SLICES = [8192, 256] as const
/**
 * Units beyond the first cut that fits no more which are tried too: the longest token of both
 * encodings.
 */
const LONGEST_TOKEN_CHARS = 128
/**
 * Bounds those tries if the text has no safe boundary to start from: units read over all of them.
 */
const TRIED_CHARS = 1 << 17

/**
 * A prefix of `text` with at most `limit` tokens, cut between characters, never inside a surrogate
 * pair. Longer prefixes were tried and do not fit, except if the text runs on for thousands of
 * characters without a safe boundary: there a slightly longer one may fit, as counts do not grow
 * evenly inside a piece. Time is that of counting the prefix, and of counting the last stretch
 * between safe boundaries some twenty times.
 */
export function truncateToTokens(counter: TokenCounter, text: string, limit: number): string {
  if (limit <= 0) return ''
  if (counter.countUpTo(text, limit) <= limit) return text
  let start = 0
  let left = limit
  if (addsUp(counter)) {
    for (const slice of SLICES) {
      for (;;) {
        const end = safeEnd(text, start, slice)
        const tokens = counter.countUpTo(text.slice(start, end), left)
        if (tokens > left || end === text.length) break
        left -= tokens
        start = end
      }
    }
  }
  return text.slice(0, start + longestFit(counter, text.slice(start), left))
}

/**
 * Whether counts of parts add up at safe boundaries; estimates by length are rounded, so theirs do
 * not.
 */
function addsUp(counter: TokenCounter): boolean {
  return PROFILES[tokenizerId(counter.id)].counting !== 'bytes'
}

/** The first safe boundary at least `slice` units after `start`, or the text's end. */
function safeEnd(text: string, start: number, slice: number): number {
  for (let at = start + slice; at < text.length; at++) {
    if (isSafeBoundary(text[at - 1]!, text[at]!)) return at
  }
  return text.length
}

/** Length of the longest prefix found that fits `limit`: by halving, then by trying longer ones. */
function longestFit(counter: TokenCounter, text: string, limit: number): number {
  const fits = (chars: number): boolean =>
    counter.countUpTo(text.slice(0, wholeCharacters(text, chars)), limit) <= limit
  let low = 0
  let high = Math.min(text.length, limit * LONGEST_TOKEN_CHARS) + 1
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (fits(middle)) low = middle
    else high = middle
  }
  const tries = Math.min(LONGEST_TOKEN_CHARS, Math.ceil(TRIED_CHARS / (low + 1)))
  for (let more = tries; more > 0; more--) {
    if (low + more <= text.length && fits(low + more)) return wholeCharacters(text, low + more)
  }
  return wholeCharacters(text, low)
}

/** `chars`, or one less if that would part a surrogate pair. */
function wholeCharacters(text: string, chars: number): number {
  const last = text.charCodeAt(chars - 1)
  const next = text.charCodeAt(chars)
  const parts = last >= 0xd800 && last < 0xdc00 && next >= 0xdc00 && next < 0xe000
  return parts ? chars - 1 : chars
}
