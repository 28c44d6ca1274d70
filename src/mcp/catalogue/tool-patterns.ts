/** Patterns of the tools that a server offers. */
interface Offered {
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** Whether a tool of a server is offered: one pattern includes it, and none excludes it. */
export function isIncluded(tool: string, { include, exclude }: Offered): boolean {
  const matches = (patterns: readonly string[]) => patterns.some(pattern => isLike(tool, pattern))
  return matches(include) && !matches(exclude)
}

/** @param pattern in which `*` matches anything */
export function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const [i, part] of rest.entries()) {
    if (i === rest.length - 1) return text.endsWith(part) && text.length - part.length >= at
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at === text.length
}
