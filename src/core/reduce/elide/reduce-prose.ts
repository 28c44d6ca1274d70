import { looksLikeProse, type Sentence, sentencesOf } from './prose-sentences.ts'
import { type CharRange, CRITICAL, raise, STRUCTURE, type TextReducer } from './reducer.ts'

/** What a reader must not miss. */
const DIRECTIVE =
  /\b(?:must|never|always|shall|should not|do not|don't|cannot|important(?:ly)?|note|caution|warnings?|caveats?|deprecated|required|mandatory|breaking|security|danger(?:ous)?|todo|fixme|errors?|fails?|failed|failures?|unsafe|forbidden|only if)\b/i

const HEAD = 3
const TAIL = 2
/** Items of a list, rows of a table, lines of a fence that stay. */
const MOST_OF_BLOCK = 3

/** Shorter gaps inside a line do not pay for their mark. */
const LEAST_GAP_CHARS = 40

/**
 * Prose: headings, first sentences of paragraphs, sentences that demand or warn, both ends, and the
 * first lines of lists, tables and fences.
 */
export const proseReducer: TextReducer = {
  kind: 'prose',
  accepts: looksLikeProse,
  rank({ lines }) {
    const ranks = new Uint8Array(lines.length)
    const inner = new Map<number, CharRange[]>()
    const sentences = sentencesOf(lines)
    const parts = sentences.filter(({ kind }) => kind === 'sentence')
    const ends = new Set([...parts.slice(0, HEAD), ...parts.slice(-TAIL)])
    const bulk: Sentence[] = []
    sentences.forEach((sentence, index) => {
      const { firstLine, lastLine } = sentence
      if (isDirective(sentence, lines)) raise(ranks, firstLine, lastLine + 1, CRITICAL)
      else if (ends.has(sentence) || leads(sentence, sentences[index + 1])) {
        raise(ranks, firstLine, lastLine + 1, STRUCTURE)
      } else bulk.push(sentence)
    })
    for (const sentence of bulk) addGap(inner, sentence)
    for (const [line, gaps] of inner) {
      const worthy = gaps.filter(({ start, end }) => end - start >= LEAST_GAP_CHARS)
      if (ranks[line] === 0 || worthy.length === 0) inner.delete(line)
      else inner.set(line, worthy)
    }
    return { ranks, inner }
  },
}

function isDirective({ firstLine, lastLine, start, end }: Sentence, lines: readonly string[]) {
  for (let at = firstLine; at <= lastLine; at++) {
    const from = at === firstLine ? start : 0
    const to = at === lastLine ? end : lines[at]!.length
    if (DIRECTIVE.test(lines[at]!.slice(from, to))) return true
  }
  return false
}

/** Whether a sentence names the subject of its paragraph or block. */
function leads({ kind, place }: Sentence, next: Sentence | undefined): boolean {
  if (kind === 'heading') return true
  if (kind !== 'sentence') return place < MOST_OF_BLOCK || (kind === 'fence' && next?.kind !== kind)
  return place === 0
}

/** Sentences beside one another are one gap. */
function addGap(inner: Map<number, CharRange[]>, { firstLine, lastLine, start, end }: Sentence) {
  if (firstLine !== lastLine) return
  const gaps = inner.get(firstLine) ?? []
  inner.set(firstLine, gaps)
  const last = gaps.at(-1)
  if (last?.end === start) gaps[gaps.length - 1] = { start: last.start, end }
  else gaps.push({ start, end })
}
