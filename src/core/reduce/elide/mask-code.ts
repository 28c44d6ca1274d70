/** A line of a brace language without the content of its strings and comments. */
export interface MaskedLine {
  /** The code; strings are empty and comments are gone. */
  readonly code: string
  /** Whether it is inside a comment or a string from its first character on. */
  readonly inside: boolean
}

/** This quote may span lines in JavaScript and Go; other quotes end with their line. */
const MULTILINE = '`'
const QUOTES = '"\'`'

/** Removes strings and comments from each line, in one pass over the text. */
export function maskCode(lines: readonly string[]): readonly MaskedLine[] {
  let open: 'comment' | 'string' | null = null
  return lines.map(line => {
    const inside = open !== null
    let code = ''
    let at = 0
    while (at < line.length) {
      if (open !== null) {
        const close = line.indexOf(open === 'comment' ? '*/' : MULTILINE, at)
        if (close === -1) break
        at = close + (open === 'comment' ? 2 : 1)
        open = null
        continue
      }
      const start = nextMasked(line, at)
      code += line.slice(at, start)
      if (start === line.length || line.startsWith('//', start)) break
      if (line.startsWith('/*', start)) {
        open = 'comment'
        at = start + 2
        continue
      }
      const quote = line.charAt(start)
      const end = stringEnd(line, start)
      if (end === -1 && quote === MULTILINE) {
        open = 'string'
        break
      }
      // A quote that is not closed does not begin a string.
      at = end === -1 ? start + 1 : end
    }
    return { code, inside }
  })
}

/** The start of the next string or comment; the line's length if there is none. */
function nextMasked(line: string, from: number): number {
  for (let at = from; at < line.length; at++) {
    const c = line.charAt(at)
    if (QUOTES.includes(c)) return at
    if (c === '/' && (line.charAt(at + 1) === '/' || line.charAt(at + 1) === '*')) return at
  }
  return line.length
}

/** The place after the closing quote; -1 if there is none on this line. */
function stringEnd(line: string, start: number): number {
  const quote = line.charAt(start)
  for (let at = start + 1; at < line.length; at++) {
    const c = line.charAt(at)
    if (c === '\\') at++
    else if (c === quote) return at + 1
  }
  return -1
}
