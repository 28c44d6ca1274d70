/**
 * Characters that encoders escape although JSON does not require it, by name. `''`: none. `ascii`:
 * all beyond ASCII, as Python does. `html`: those with a meaning in HTML, as Go does.
 */
const ESCAPES: ReadonlyMap<string, RegExp | null> = new Map([
  ['', null],
  ['ascii', /[\u007f-\uffff]/g],
  ['html', /[<>&\u2028\u2029]/g],
])

/** Writes a string as a JSON string literal. */
export type Quote = (text: string) => string

/** Whether there are escapes of this name. */
export function isEscapes(name: string): boolean {
  return ESCAPES.has(name)
}

/** How strings are written with these escapes. */
export function quoteOf(escapes: string): Quote {
  const escaped = ESCAPES.get(escapes) ?? null
  if (escaped === null) return text => JSON.stringify(text)
  return text => JSON.stringify(text).replace(escaped, unicodeEscape)
}

/** The escapes that a program may have used that wrote this JSON, the most usual ones first. */
export function possibleEscapes(source: string): readonly string[] {
  return source.includes('\\u') ? [...ESCAPES.keys()] : ['']
}

function unicodeEscape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
