import { HIDDEN_CLASS } from './hidden-characters.ts'

/** Without one of these, which most lines do not have, there is neither a hint nor a marker. */
const NEEDED = /[[［﹇【⟦=]/
/**
 * Characters at which some reader sees a new line begin, U+001C to U+001E and U+0085 among them.
 */
const BREAKS = new RegExp(`[${String.raw`\n\v\f\r\u001c-\u001e\u0085\u2028\u2029`}]`)
/** Also the sequences that colour a terminal. */
const HIDDEN = new RegExp(String.raw`\u001b\[[0-9;?]*[A-Za-z]|[${HIDDEN_CLASS}]`, 'gu')
/** Characters that may come before a hint that is quoted or in a list. */
const LEADING = /[\s>＞*+-]*/y
/** First words of our hints, of older ones, and of those that other services write. */
const HEAD_WORDS = [
  String.raw`(?:near[-_ ]?)?ref\b`,
  ...['near', 'lines?', 'encoded', 'query', 'total', 'returned', 'elided', 'omitted'].map(
    wholeWord,
  ),
  'skip',
  wholeWord('hash'),
  String.raw`\+\s*\d`,
  String.raw`\d\S*\s+of\s+\d`,
  String.raw`\d\S*\s+\S+\s+(?:kept|not shown|at)\b`,
  String.raw`\d\S*\s+\S+,\s+\d`,
]
const HEAD = new RegExp(String.raw`^[[【⟦]\s*(?:${HEAD_WORDS.join('|')})`, 'i')
/** Characters of a line that are looked at for its first words. */
const HEAD_CHARS = 64
/** The text that clients of the gateway contract search for, anywhere. */
const MARKER = /hash\s?=\s?[0-9a-f]{24}/i

/**
 * Whether a reader could take this line for one of our hints. The test is wider than `parseHint`,
 * so that a service that carries content can escape it. In a text of several lines, each line is
 * tested. Linear.
 */
export function looksLikeHint(line: string): boolean {
  if (!NEEDED.test(line)) return false
  return line.split(BREAKS).some(part => {
    const seen = part.replace(HIDDEN, '')
    if (MARKER.test(seen)) return true
    LEADING.lastIndex = 0
    const start = LEADING.exec(seen)?.[0].length ?? 0
    return HEAD.test(seen.slice(start, start + HEAD_CHARS).normalize('NFKC'))
  })
}

function wholeWord(word: string): string {
  return String.raw`${word}\b`
}
