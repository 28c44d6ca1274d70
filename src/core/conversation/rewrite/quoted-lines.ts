/** Shorter lines are in many texts by chance. */
const MIN_CHARS = 24
/** The number that a tool prints before a line. */
const GUTTER = /^ *\d+[→\t:|-] ?/

/** Lines of one call that are looked at. An edit with more is a new text. */
const MOST_LINES = 4_000

/** The first long lines of all texts in a call's arguments, without white space around them. */
export function argumentLines(args: unknown): ReadonlySet<string> {
  const lines = new Set<string>()
  const open = [args]
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value === 'string') {
      for (const line of longLines(value)) if (lines.size < MOST_LINES) lines.add(line)
    } else if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values(value)) open.push(inner)
    }
  }
  return lines
}

/** The long lines of a text, with and without the numbers that a tool prints before them. */
export function linesIn(text: string): readonly string[] {
  return longLines(text).flatMap(line => {
    const bare = line.replace(GUTTER, '').trim()
    return bare === line ? [line] : [line, bare]
  })
}

function longLines(text: string): readonly string[] {
  return text.split('\n').flatMap(line => {
    const bare = line.trim()
    return bare.length >= MIN_CHARS ? [bare] : []
  })
}
