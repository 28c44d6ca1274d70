/** After one of these, or at the start, a slash begins a regular expression. */
const BEFORE = '(=,:;!&|?{}[\n>'
const QUOTES = '\'"`'

/** A regular expression of a source text. */
export interface RegexLiteral {
  readonly source: string
  readonly flags: string
}

/**
 * The regular expressions that a TypeScript text has as literals; what stands in its comments and
 * strings is none.
 */
export function regexLiterals(code: string): RegexLiteral[] {
  const found: RegexLiteral[] = []
  let before = '\n'
  for (let at = 0; at < code.length; at++) {
    const c = code.charAt(at)
    if (code.startsWith('//', at)) at = endOf(code, '\n', at) - 1
    else if (code.startsWith('/*', at)) at = endOf(code, '*/', at) + 1
    else if (QUOTES.includes(c)) {
      at = closing(code, at, c)
      before = c
    } else if (c === '/' && (BEFORE.includes(before) || code.slice(0, at).endsWith('return '))) {
      const end = closing(code, at, '/')
      const flags = /^[a-z]*/.exec(code.slice(end + 1, end + 9))?.[0] ?? ''
      found.push({ source: code.slice(at + 1, end), flags })
      at = end + flags.length
      before = '/'
    } else if (c === '\n' || c.trim() !== '') before = c
  }
  return found
}

function endOf(code: string, what: string, from: number): number {
  const at = code.indexOf(what, from)
  return at === -1 ? code.length : at
}

/** Where what opens at `start` closes; a slash in a class of characters closes nothing. */
function closing(code: string, start: number, close: string): number {
  let inClass = false
  for (let at = start + 1; at < code.length; at++) {
    const c = code.charAt(at)
    if (c === '\\') at++
    else if (close === '/' && c === '[') inClass = true
    else if (close === '/' && c === ']') inClass = false
    else if (c === close && !inClass) return at
  }
  throw new Error(`nothing closes ${close} at ${start}`)
}
