import type { CharRange } from './reducer.ts'
import { reportedWords } from './severity.ts'

/** Characters from which a line is long, and what stays of it at its start and at its end. */
const LONG_LINE = 2_000
const HEAD = 600
const TAIL = 200
/** Characters that stay on both sides of a word for a failure or a warning. */
const AROUND = 120
/** The first two places of such a word and the last stay; and so many words are told apart. */
const FIRST = 2
const MOST_WORDS = 16
/** A shorter gap stays. */
const LEAST_GAP = 200

/**
 * What goes of long lines that stay: dumped objects and minified output, without the start, the end
 * and what is around words for failures and warnings. By the line's place. Linear.
 * @param mayCut whether a line may lose its middle
 */
export function longLineGaps(
  lines: readonly string[],
  mayCut: (at: number) => boolean,
): ReadonlyMap<number, readonly CharRange[]> {
  const inner = new Map<number, readonly CharRange[]>()
  lines.forEach((line, at) => {
    if (line.length <= LONG_LINE || !mayCut(at)) return
    const gaps = gapsOf(line)
    if (gaps.length > 0) inner.set(at, gaps)
  })
  return inner
}

function gapsOf(line: string): readonly CharRange[] {
  const gaps: CharRange[] = []
  let from = HEAD
  const end = line.length - TAIL
  for (const place of [...shownPlaces(line), end + AROUND]) {
    const start = wholePair(line, from)
    const next = wholePair(line, Math.min(end, place - AROUND))
    if (next - start >= LEAST_GAP) gaps.push({ start, end: next })
    from = Math.max(from, place + AROUND)
  }
  return gaps
}

/** The places of words for failures that stay, in order. */
function shownPlaces(line: string): readonly number[] {
  const byWord = new Map<string, number[]>()
  for (const { word, at } of reportedWords(line)) {
    const places = byWord.get(word)
    if (places === undefined) {
      if (byWord.size < MOST_WORDS) byWord.set(word, [at])
    } else if (places.length <= FIRST) places.push(at)
    else places[FIRST] = at
  }
  return [...byWord.values()].flat().sort((a, b) => a - b)
}

/** A place that divides no pair of surrogates. */
function wholePair(line: string, at: number): number {
  return (line.charCodeAt(at) & 0xfc00) === 0xdc00 ? at + 1 : at
}
