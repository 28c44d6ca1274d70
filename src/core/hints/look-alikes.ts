import { HIDDEN_CLASS, HIDDEN_RANGES } from './hidden-characters.ts'

/**
 * Which look-alikes are meant: `all`, or `hints` without the marks that elision leaves in a text.
 * Use `hints` if these marks may be our own.
 */
export type LookAlikes = 'all' | 'hints'

/** Characters that a reader could take for the `>` of a quotation, and for the bracket after it. */
const QUOTES = '>»›❯❱⟩⟫〉》﹥＞▶▸►'
const BRACKETS = String.raw`\[⁅❲⟦⟬⦋⦗【〔〖〘〚﹇﹝［`
/** Characters at which some reader sees a new line begin. */
const BREAKS = String.raw`\n\v\f\r\u001c-\u001e\u0085\u2028\u2029`
const COLOR = String.raw`\u001b\[[0-9;?]*[A-Za-z]`
const UNSEEN = String.raw`[[\s${HIDDEN_CLASS}]--\n]`
const GAP = `(?:${COLOR}|${UNSEEN})*`
const INDENT = String.raw`[[\s${HIDDEN_CLASS}*+\-]--\n]*`

/** A quoted bracket, a gap within a line, or a bracket that a line begins with. */
const LEAD = new RegExp(
  `[${QUOTES}]${GAP}[${BRACKETS}]|…\\[\\+|…(?= ?\\d)|` +
    String.raw`[${BRACKETS}](?<=(?:^|[${BREAKS}])${INDENT}\\*[${BRACKETS}])`,
  'gv',
)
const COLOR_HERE = new RegExp(COLOR, 'y')
const HEAD_CHARS = 48
const ELLIPSIS = '…'
const ESCAPE_CODE = 0x1b

/**
 * Kinds of characters when first words are read. A `CUT` ends them, since an escape may come before
 * it.
 */
const HIDDEN = 1
const SPACE = 2
const CUT = 3
const HIDDEN_ASTRAL = new RegExp(`[${HIDDEN_CLASS}]`, 'v')

const SPACES = [
  [0x09, 0x09],
  [0x0b, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
] as const
const KIND_OF = kindsOfCharacters()
/** First characters of the words below. */
const FIRST = new Set(Array.from('nNrRlLeEqQtToOsShHcC/+.0123456789', c => c.charCodeAt(0)))

const REFERENCE = '(?:near[-_ ]?)?ref(?:erence)?'
/** What a marker begins with: so many of a unit, or the first of several units. */
const AMOUNT = String.raw`\d[\d,._]* [\w\-]+(?: (?:kept|not shown|at)\b|, ?\d)`
/** First words after a quoted bracket, in NFKC and lower case. */
const QUOTED_HEAD = startingWith(
  String.raw`${REFERENCE}[\s:=#]`,
  String.raw`lines? ?\d`,
  'encoded ?:',
  'query ?:',
  'total ?[=:]',
  'returned ?[=:]',
  String.raw`elided\b`,
  String.raw`omitted\b`,
  'skip ?:',
  'hash ?=',
  String.raw`chunks ?\]`,
  String.raw`\+ ?\d`,
  String.raw`\d[\d,._]* of \d`,
  AMOUNT,
)
/** First words after a bracket that is not quoted: only those that few other texts have. */
const BARE_HEAD = startingWith(
  String.raw`${REFERENCE}[\s:=#]+[0-9a-f]{6}`,
  'elided ?:',
  String.raw`\d[\d,._]* \S+ (?:kept, ?\d|not shown\b)`,
  String.raw`encoded ?: ?\w+@\d`,
  String.raw`\/?chunks ?\]`,
)
const GAP_LINE_HEAD = /^\.\.\. ?lines? ?\d/
/** A row in place of items. */
const GAP_ROW = /… ?\d[\d,._]* not shown/y
const GAP_IN_LINE = /…\[\+[1-9]\d{0,8} chars\]/y

/**
 * Finds what a reader could take for a hint or a mark of ours, as indexes in their order. Wider
 * than the grammar: other spacing, letter case, widths, brackets, and hidden characters. An escape
 * before one look-alike changes none of the others. Linear.
 */
export function findLookAlikes(text: string, kinds: LookAlikes = 'all'): readonly number[] {
  const found: number[] = []
  LEAD.lastIndex = 0
  for (let lead = LEAD.exec(text); lead !== null; lead = LEAD.exec(text)) {
    if (isLookAlike(text, lead.index, lead[0], kinds)) found.push(lead.index)
  }
  return found
}

/** A line of content before its first words: white space, escapes, marks of quotes and lists. */
const LINE_START = new RegExp(String.raw`^(?:${COLOR}|[\s\\>*+\-${HIDDEN_CLASS}])*$`, 'v')
/** No look-alike begins with another one of ASCII. */
const MAY_START = /^[\0- >[*+\-\\\u007f-\uffff]/

/** Whether the first words of a line, or of a text, look like a hint or a mark of ours. */
export function startsLikeHint(line: string): boolean {
  if (!MAY_START.test(line)) return false
  const [first] = findLookAlikes(line)
  return first !== undefined && LINE_START.test(line.slice(0, first))
}

function isLookAlike(text: string, start: number, lead: string, kinds: LookAlikes): boolean {
  if (lead === ELLIPSIS) {
    GAP_ROW.lastIndex = start
    return GAP_ROW.test(text)
  }
  if (lead.startsWith(ELLIPSIS)) {
    GAP_IN_LINE.lastIndex = start
    return kinds === 'all' && GAP_IN_LINE.test(text)
  }
  const head = headAt(text, start + lead.length)
  if (lead.length > 1) return QUOTED_HEAD.test(head)
  return BARE_HEAD.test(head) || (kinds === 'all' && GAP_LINE_HEAD.test(head))
}

/** A pattern for a text that starts with one of these patterns. */
function startingWith(...words: readonly string[]): RegExp {
  return new RegExp(`^(?:${words.join('|')})`)
}

/** The next words as a reader sees them. Text between two leads is read once. */
function headAt(text: string, from: number): string {
  let seen = ''
  for (let at = from; at < text.length && seen.length < HEAD_CHARS; at++) {
    const code = text.charCodeAt(at)
    if (code === ESCAPE_CODE) {
      COLOR_HERE.lastIndex = at
      if (COLOR_HERE.test(text)) at = COLOR_HERE.lastIndex - 1
      continue
    }
    const kind = KIND_OF[code]
    if (kind === CUT && !(text[at] === ELLIPSIS && seen === '')) break
    if (kind === HIDDEN) continue
    if (kind === SPACE) {
      if (seen !== '') seen += ' '
    } else if ((code & 0xfc00) === 0xd800) {
      const character = String.fromCodePoint(text.codePointAt(at)!)
      if (!HIDDEN_ASTRAL.test(character)) seen += character
      at += character.length - 1
    } else {
      // Most brackets contain something else.
      if (seen === '' && code < 0x80 && !FIRST.has(code)) return ''
      seen += text[at]
    }
  }
  return seen.normalize('NFKC').toLowerCase()
}

function kindsOfCharacters(): Uint8Array {
  const kinds = new Uint8Array(0x10000)
  for (const [first, last] of HIDDEN_RANGES) kinds.fill(HIDDEN, first, Math.min(last, 0xffff) + 1)
  for (const [first, last] of SPACES) kinds.fill(SPACE, first, last + 1)
  const cuts = `\n\\${ELLIPSIS}${QUOTES}${BRACKETS}`
  for (let at = 0; at < cuts.length; at++) kinds[cuts.charCodeAt(at)] = CUT
  return kinds
}
