/** A text that is searched, and what its reader calls it. */
export interface SearchedText {
  readonly name: string
  readonly text: string
}

interface Hit {
  readonly name: string
  readonly lines: readonly string[]
  readonly at: number
  readonly score: number
  /** Where the first of the words is in its line. */
  readonly place: number
}

const MAX_HITS = 20
const MAX_WORDS = 16
/** Characters of a line that are shown. */
const MAX_LINE_CHARS = 400

/** The words of a query, each once. */
function wordsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().match(/[^\s,;"'`()]+/g))].slice(0, MAX_WORDS)
}

/**
 * The lines that have most of the words, each with a line around it: the best first, of equally
 * good ones the newest. Linear in the texts.
 * @param texts the oldest first
 */
export function searchWords(texts: readonly SearchedText[], query: string): string {
  const words = wordsOf(query)
  const hits = texts.toReversed().flatMap(text => hitsIn(text, words))
  const best = hits.sort((a, b) => b.score - a.score).slice(0, MAX_HITS)
  if (best.length === 0) return 'no line of what was left out has one of these words'
  const more = hits.length - best.length
  const tail = more > 0 ? `\n(${best.length} of ${hits.length} lines)` : ''
  return best.map(shown).join('\n') + tail
}

function hitsIn({ name, text }: SearchedText, words: readonly string[]): readonly Hit[] {
  const lower = text.toLowerCase()
  const present = words.filter(word => lower.includes(word))
  if (present.length === 0) return []
  const lines = text.split('\n')
  return lines.flatMap((line, at) => {
    const own = line.toLowerCase()
    const places = present.map(word => own.indexOf(word)).filter(place => place !== -1)
    const score = places.length
    return score === 0 ? [] : [{ name, lines, at, score, place: leastOf(places) }]
  })
}

function leastOf(places: readonly number[]): number {
  return places.reduce((least, place) => Math.min(least, place), Number.MAX_SAFE_INTEGER)
}

function shown({ name, lines, at, place }: Hit): string {
  const first = Math.max(0, at - 1)
  const around = lines
    .slice(first, at + 2)
    .map((line, index) => cut(line, first + index === at ? place : 0))
  return [`${name}, line ${at + 1}:`, ...around].join('\n')
}

/** A long line around a place in it. */
function cut(line: string, place: number): string {
  if (line.length <= MAX_LINE_CHARS) return line
  const start = Math.max(0, Math.min(place - MAX_LINE_CHARS / 2, line.length - MAX_LINE_CHARS))
  const end = start + MAX_LINE_CHARS
  const part = line.slice(start, end).toWellFormed()
  return `${start > 0 ? '…' : ''}${part}${end < line.length ? '…' : ''}`
}
