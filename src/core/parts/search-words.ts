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
    const score = present.reduce((sum, word) => sum + (own.includes(word) ? 1 : 0), 0)
    return score === 0 ? [] : [{ name, lines, at, score }]
  })
}

function shown({ name, lines, at }: Hit): string {
  const around = lines.slice(Math.max(0, at - 1), at + 2).map(cut)
  return [`${name}, line ${at + 1}:`, ...around].join('\n')
}

function cut(line: string): string {
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`
}
