import { escapeText } from '../../bare-text.ts'
import { contentOf, LINE_FEED_BIT, UNSAFE_BIT } from '../../text-content.ts'
import type { Pricer } from './pricer.ts'
import { FENCE_CHAR, LONGEST_FENCE, SHORTEST_FENCE } from './syntax.ts'

/**
 * A string of several lines: unchanged between fences if that is cheaper, else in quotes. Returns
 * `null` for a string that fits a line.
 */
export function writeStringLines(text: string, pricer: Pricer): string | null {
  const content = contentOf(text)
  if ((content & LINE_FEED_BIT) === 0) return null
  const quoted = escapeText(text)
  if ((content & UNSAFE_BIT) !== 0) return quoted
  const length = fenceLength(text)
  if (length > LONGEST_FENCE) return quoted
  const fence = FENCE_CHAR.repeat(length)
  const fenced = `${fence}\n${text}\n${fence}`
  return pricer.tokens(fenced) < pricer.tokens(quoted) ? fenced : quoted
}

/** One more than the longest run of the fence's character at the start of a line. */
function fenceLength(text: string): number {
  let longest = SHORTEST_FENCE - 1
  let at = 0
  do {
    let end = at
    while (text[end] === FENCE_CHAR) end++
    longest = Math.max(longest, end - at)
    at = text.indexOf('\n', end) + 1
  } while (at > 0)
  return longest + 1
}
