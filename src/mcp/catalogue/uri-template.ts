/** Longer ones match nothing. */
const MAX_URI_CHARS = 8_192
const MAX_PARTS = 64

/** What the operators of RFC 6570 expand to begins with this, or is empty. */
const LEADS: Readonly<Record<string, string>> = {
  '#': '#',
  '.': '.',
  '/': '/',
  ';': ';',
  '?': '?',
  '&': '&',
}

/** Operators after which reserved characters may stand. */
const TAKES_ALL: ReadonlySet<string> = new Set(['+', '#', '/', ';', '?', '&'])

/** Characters that the value of a simple expression escapes. */
const RESERVED = /[/?#]/

/** The literal characters of a template: the more, the closer it is to what it matches. */
export function literalChars(template: string): number {
  return template.replaceAll(EXPRESSION, '').length
}

const EXPRESSION = /\{([^{}]*)\}/g

/**
 * Whether a URI may be an expansion of a template of RFC 6570. One without literal characters
 * matches nothing, because it would match everything. Takes time in proportion to both lengths.
 */
export function matchesTemplate(template: string, uri: string): boolean {
  // Literals and expressions by turns.
  const parts = template.split(EXPRESSION)
  if (uri.length > MAX_URI_CHARS || parts.length > MAX_PARTS) return false
  if (literalChars(template) === 0) return false
  let ends = new Set([0])
  for (const [i, part] of parts.entries()) {
    ends = i % 2 === 0 ? afterLiteral(part, uri, ends) : afterExpression(part, uri, ends)
    if (ends.size === 0) return false
  }
  return ends.has(uri.length)
}

function afterLiteral(literal: string, uri: string, starts: ReadonlySet<number>): Set<number> {
  const found = [...starts].filter(start => uri.startsWith(literal, start))
  return new Set(found.map(start => start + literal.length))
}

function afterExpression(expression: string, uri: string, starts: ReadonlySet<number>) {
  const operator = expression[0] ?? ''
  const lead = LEADS[operator]
  const ends = new Set(starts)
  let isInside = false
  for (let end = 1; end <= uri.length; end++) {
    const char = uri[end - 1] as string
    const isAllowed = TAKES_ALL.has(operator) || !RESERVED.test(char)
    const begins = starts.has(end - 1) && (lead === undefined ? isAllowed : char === lead)
    isInside = begins || (isInside && isAllowed)
    if (isInside) ends.add(end)
  }
  return ends
}
