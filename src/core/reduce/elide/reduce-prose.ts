import {
  type CharRange,
  CRITICAL,
  raise,
  STRUCTURE,
  type TextReducer,
  type TextView,
} from './reducer.ts'
import { severityOf } from './severity.ts'

/** Words of sentences that a reader must not miss. */
const DIRECTIVE =
  /\b(?:must|never|always|shall|should not|do not|don't|cannot|important(?:ly)?|note|caution|warnings?|caveats?|deprecated|required|mandatory|breaking|security|danger(?:ous)?|todo|fixme|errors?|fails?|failed|failures?|unsafe|forbidden|only if)\b/i

const HEAD = 3
const TAIL = 2
/** Items of a list, rows of a table, lines of a fence that stay. */
const MOST_OF_BLOCK = 3

/** Shorter gaps inside a line would save less than their mark takes. */
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
    const part = lines[at]!.slice(from, to)
    if (DIRECTIVE.test(part) || severityOf(part) === 'failure') return true
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

/**
 * A sentence, or a line that stands by itself; offsets in its first and in its last line, `end`
 * exclusive.
 */
interface Sentence {
  readonly firstLine: number
  readonly start: number
  readonly lastLine: number
  readonly end: number
  readonly kind: 'heading' | 'item' | 'sentence' | 'fence' | 'table'
  /** First of its paragraph, list, fence or table: 0, then 1 and so on. */
  readonly place: number
}

const HEADING = /^ {0,3}#{1,6}(?:\s|$)/
const ITEM = /^(?:[-*+•]|\d{1,4}[.)])\s/
const FENCE = /^(?:```|~~~)/

/** Ends of sentences; those of the second kind need no space after them. */
const STOPS = '.!?…'
const WIDE_STOPS = '。！？؟۔'
/** Characters that may close after a stop. */
const CLOSERS = '"\')]*_”’»'

/** The sentences of a text in their order; blank lines are between them. Linear. */
function sentencesOf(lines: readonly string[]): readonly Sentence[] {
  const found: Sentence[] = []
  let kind: Sentence['kind'] | null = null
  let place = 0
  /** The start of the sentence that is still open. */
  let open: { line: number; at: number } | null = null
  let inFence = false

  function close(lastLine: number, end: number): void {
    if (open === null) return
    found.push({
      firstLine: open.line,
      start: open.at,
      lastLine,
      end,
      kind: 'sentence',
      place: place++,
    })
    open = null
  }

  lines.forEach((line, index) => {
    const next = inFence || FENCE.test(line.trimStart()) ? 'fence' : kindOf(line)
    if (FENCE.test(line.trimStart())) inFence = !inFence
    if (next !== 'sentence' || kind !== 'sentence') close(index - 1, lines[index - 1]?.length ?? 0)
    if (next !== kind || next === 'heading') place = 0
    kind = next
    if (next === null) return
    if (next !== 'sentence') {
      const whole = { firstLine: index, start: 0, lastLine: index, end: line.length }
      found.push({ ...whole, kind: next, place: place++ })
      return
    }
    let from = 0
    for (let at = 0; at < line.length; at++) {
      const end = stopAt(line, at)
      if (end === 0) continue
      open ??= { line: index, at: from }
      close(index, end)
      from = end
      at = end - 1
    }
    if (from < line.length) open ??= { line: index, at: from }
  })
  close(lines.length - 1, lines.at(-1)?.length ?? 0)
  return found
}

function kindOf(line: string): Sentence['kind'] | null {
  if (line.trim() === '') return null
  if (HEADING.test(line)) return 'heading'
  const text = line.trimStart()
  if (text.startsWith('|')) return 'table'
  return ITEM.test(text) ? 'item' : 'sentence'
}

/** The place after the stop at `at` and what closes there; 0 if no sentence ends. */
function stopAt(line: string, at: number): number {
  const c = line.charAt(at)
  if (WIDE_STOPS.includes(c)) return at + 1
  if (!STOPS.includes(c)) return 0
  let end = at + 1
  while (end < line.length && CLOSERS.includes(line.charAt(end))) end++
  return end === line.length || line.charAt(end) === ' ' ? end : 0
}

const LEAST_CHARS = 800
const LEAST_SENTENCES = 8
/** Shares of the characters that are letters, and that sentences, headings and lists have. */
const LETTER_SHARE = 0.6
const SENTENCE_SHARE = 0.5
/** UTF-16 code units that are looked at. */
const LOOKED_AT = 65_536
/** Words of a sentence, and lines that it goes over in hard-wrapped text. */
const LEAST_WORDS = 4
const MOST_LINES = 12
const LETTER = /\p{L}/u

/** Whether a text consists of sentences of a language. */
export function looksLikeProse({ lines, chars }: TextView): boolean {
  if (chars < LEAST_CHARS) return false
  const head = headOf(lines)
  const looked = head.reduce((sum, line) => sum + line.length, 0)
  const letters = head.reduce((sum, line) => sum + lettersOf(line), 0)
  if (letters < looked * LETTER_SHARE) return false
  let sentences = 0
  let covered = 0
  for (const sentence of sentencesOf(head)) {
    const text = textOf(sentence, head)
    if (sentence.kind === 'sentence') {
      if (!isSentence(text)) continue
      sentences++
    }
    covered += text.length
  }
  if (isMarkdown(head)) return true
  return sentences >= LEAST_SENTENCES && covered >= looked * SENTENCE_SHARE
}

function headOf(lines: readonly string[]): string[] {
  const head: string[] = []
  let left = LOOKED_AT
  for (const line of lines) {
    if (left <= 0) break
    head.push(line.slice(0, left))
    left -= line.length
  }
  return head
}

/** The sentence's lines joined. Empty if it goes over too many lines, which no author writes. */
function textOf({ firstLine, lastLine, start, end }: Sentence, lines: readonly string[]): string {
  if (lastLine - firstLine >= MOST_LINES) return ''
  if (firstLine === lastLine) return lines[firstLine]!.slice(start, end)
  const first = lines[firstLine]!.slice(start)
  const last = lines[lastLine]!.slice(0, end)
  return [first, ...lines.slice(firstLine + 1, lastLine), last].join(' ')
}

function isSentence(text: string): boolean {
  const end = text.trimEnd().replace(/["')\]*_”’»]{1,4}$/, '')
  if (WIDE_STOPS.includes(end.at(-1) ?? ' ')) return true
  return (
    STOPS.includes(end.at(-1) ?? ' ') && text.trim().split(' ', LEAST_WORDS).length === LEAST_WORDS
  )
}

function lettersOf(line: string): number {
  let letters = 0
  for (let at = 0; at < line.length; at++) {
    const c = line.charCodeAt(at)
    const isLetter = c < 0x80 ? (c | 0x20) >= 97 && (c | 0x20) <= 122 : LETTER.test(line.charAt(at))
    if (isLetter) letters++
  }
  return letters
}

/** A heading of the second level or below: one `#` begins a comment in many languages. */
const SUBHEADING = /^#{2,6} +\S/
const LEAST = 2

/** Whether a text is Markdown, whatever the code and the output are that it quotes. */
export function isMarkdown(lines: readonly string[]): boolean {
  let fences = 0
  let headings = 0
  for (const line of lines.map(each => each.trimStart())) {
    if (FENCE.test(line)) fences++
    else if (SUBHEADING.test(line)) headings++
  }
  return headings >= LEAST || (fences >= LEAST && headings > 0)
}
