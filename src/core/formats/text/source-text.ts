/**
 * The first line of a file of source or settings: a comment, an import, a declaration, or the head
 * of a section.
 */
const COMMENT = String.raw`#|//|/\*|<[?!]|<html\b|%[ %]|;[ ;]|" |"""|--[ \[]|\(\*|\{-`
const KEYWORD =
  'abstract|class|const|declare|def|enum|export|extern|fn|from|func|function|import|include|' +
  'interface|let|module|namespace|package|private|protected|pub|public|require|static|struct|' +
  'typedef|use|using|var'
const SETTING = String.raw`\[[\w. "-]+\]$|[$@\w.-]+ :?= `
const FIRST_LINE = new RegExp(
  String.raw`^\s*(?:${COMMENT}|(?:${KEYWORD})[ (]|["']use strict|${SETTING})`,
)
/** A line of source ends so; what begins with a number is a match, and with a bracket JSON. */
const STATEMENT = /^\s*[^\s\d{[].*(?:[;{(,]|=>|\{.*\})$/
/** A line of YAML, or below one. */
const KEYED = /^\s*(?:- )?(?:[\w."'/-]+:(?: |$)|[-#] ?)/
/** Lines of YAML, of which so many are below others; lines of a log are not. */
const MOST_KEYED = 0.8
const LEAST_BELOW = 0.2
/** A line that names a place or a time: of a search, a list, a log, a compiler. */
const PLACE = /:\d+[:\s-]|\d\d:\d\d|^\s*(?:[A-Za-z]:[/\\]|[\w.-]+[/\\]|[\w.-]+[-:]\d+[-:])/

/** Lines of a text that are looked at, and the share of places from which it is output. */
const SAMPLE = 100
const MOST_PLACES = 0.3

/**
 * Whether a text reads as a file of source or settings, or as the start of one: by its first line
 * and by the places in its lines. Agents quote such lines in edits, so that nothing of one may
 * stand in another. A program's output begins with a path, a time, a count or prose.
 */
export function readsAsSource(text: string): boolean {
  const start = text.search(/\S/)
  if (start === -1) return false
  const lines = linesFrom(text, text.lastIndexOf('\n', start) + 1)
  const first = lines[0]!
  const share = (what: RegExp) => lines.filter(line => what.test(line)).length / lines.length
  const isStatement = STATEMENT.test(first) && !PLACE.test(first)
  if (isStatement || FIRST_LINE.test(first)) return share(PLACE) < MOST_PLACES
  return KEYED.test(first) && share(KEYED) >= MOST_KEYED && share(/^\s/) >= LEAST_BELOW
}

/** Longer lines are compared by their start. */
const LINE_CHARS = 400

/** The first lines that are not blank, from a place on. */
function linesFrom(text: string, from: number): readonly string[] {
  const lines: string[] = []
  for (let at = from; at < text.length && lines.length < SAMPLE; ) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const line = text.slice(at, Math.min(end, at + LINE_CHARS)).trimEnd()
    if (line !== '') lines.push(line)
    at = end + 1
  }
  return lines
}
