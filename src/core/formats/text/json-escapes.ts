/** Writes a string as a JSON string literal. */
export type Quote = (text: string) => string

interface Escapes {
  readonly quote: Quote
  /** Characters that such JSON does not have; `null` if it may have all. */
  readonly absent: RegExp | null
  /** Whether slashes are escaped too. */
  readonly slashes: boolean
}

/**
 * What encoders escape although JSON does not require it, by name. `''`: nothing. `ascii`: all
 * beyond ASCII, as Python does; `upper`: the same with upper-case digits, as Jackson does on
 * demand. `html`: what has a meaning in HTML, as Go and Rails do; `gson`: that, `=` and `'`. `net`:
 * as System.Text.Json does. `php`: as `json_encode` does; `slash`: the same with `/` only.
 */
const ESCAPES: ReadonlyMap<string, Escapes> = new Map([
  ['', { quote: text => JSON.stringify(text), absent: null, slashes: false }],
  ['ascii', lowerCase(/[\u007f-\uffff]/g)],
  ['html', lowerCase(/[<>&\u2028\u2029]/g)],
  ['gson', lowerCase(/[<>&='\u2028\u2029]/g)],
  ['net', upperCase(/\\\\|\\"|\\u[0-9a-f]{4}|[<>&'`+\u007f-\uffff]/g, /[<>&'`\u007f-\uffff]/)],
  ['upper', upperCase(/\\\\|\\u[0-9a-f]{4}|[\u0080-\uffff]/g, /[\u0080-\uffff]/)],
  ['php', withSlashes(lowerCase(/[\u0080-\uffff]/g))],
  ['slash', withSlashes({ quote: text => JSON.stringify(text), absent: null })],
])

function lowerCase(escaped: RegExp): Escapes {
  const escaper = (char: string) => `\\u${hexOf(char)}`
  const quote: Quote = text => JSON.stringify(text).replace(escaped, escaper)
  return { quote, absent: new RegExp(escaped, ''), slashes: false }
}

/** @param escaped characters, and all escapes of JSON that are written in another way */
function upperCase(escaped: RegExp, absent: RegExp): Escapes {
  const escaper = (part: string) => {
    if (part === '\\\\') return part
    const digits = part.length > 2 ? part.slice(2) : hexOf(part.at(-1)!)
    return `\\u${digits.toUpperCase()}`
  }
  return { quote: text => JSON.stringify(text).replace(escaped, escaper), absent, slashes: false }
}

function withSlashes({ quote, absent }: Pick<Escapes, 'quote' | 'absent'>): Escapes {
  return { quote: text => quote(text).replaceAll('/', '\\/'), absent, slashes: true }
}

function hexOf(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0')
}

/** Whether there are escapes of this name. */
export function isEscapes(name: string): boolean {
  return ESCAPES.has(name)
}

/** How strings are written with these escapes. */
export function quoteOf(escapes: string): Quote {
  return ESCAPES.get(escapes)!.quote
}

/** The escapes that a program may have used that wrote this JSON, the most usual ones first. */
export function possibleEscapes(source: string): readonly string[] {
  const slashes = source.includes('\\/')
  if (!slashes && !source.includes('\\u')) return ['']
  return [...ESCAPES].flatMap(([name, escapes]) => {
    // A slash may also follow an escaped backslash.
    const isOut = (escapes.slashes && !slashes) || escapes.absent?.test(source) === true
    return isOut ? [] : [name]
  })
}
