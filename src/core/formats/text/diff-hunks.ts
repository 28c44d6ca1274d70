/** A header as diff programs write it: old start and count, new start and count, the rest. */
export const RAW_HUNK = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)$/s

/** Only the new start: the old one follows from the hunks before, the counts from the lines. */
const NEW_START = /^@@ (\d{1,9}) @@(.*)$/s
/** Both starts, for a hunk whose old start does not follow. */
const BOTH_STARTS = /^@@ -(\d{1,9}) \+(\d{1,9}) @@(.*)$/s

/** Whether a line is a header without counts. */
export function isShortHunk(line: string): boolean {
  return line.startsWith('@@ ') && (NEW_START.test(line) || BOTH_STARTS.test(line))
}

/** The end of the lines of a hunk, told by their first characters alone. */
export function bodyEnd(lines: readonly string[], start: number): number {
  let end = start
  for (; end < lines.length; end++) {
    const mark = lines[end]!.charAt(0)
    if (mark !== ' ' && mark !== '+' && mark !== '-' && mark !== '\\') break
  }
  return end
}

/** Lines that a hunk adds, less those that it removes. */
export function changeOf(body: readonly string[]): number {
  const { before, after } = countsOf(body)
  return after - before
}

/**
 * A header without what follows from the rest.
 * @param shift lines by which the hunks before moved what comes after them
 * @returns `null` if it does not follow
 */
export function shortHunk(header: string, body: readonly string[], shift: number): string | null {
  const [, oldStart, , newStart, , rest = ''] = RAW_HUNK.exec(header) ?? []
  const candidates = [`@@ ${newStart} @@${rest}`, `@@ -${oldStart} +${newStart} @@${rest}`]
  return candidates.find(short => readShortHunk(short, body, shift) === header) ?? null
}

/** The header that a short one represents. */
export function readShortHunk(short: string, body: readonly string[], shift: number): string {
  const { before, after } = countsOf(body)
  const alone = NEW_START.exec(short)
  if (alone !== null) {
    const [, start = '', rest] = alone
    // A side without lines names the line before it.
    const first = Number(start) + (after === 0 ? 1 : 0) - shift
    const oldStart = String(first - (before === 0 ? 1 : 0))
    return `@@ -${range(oldStart, before)} +${range(start, after)} @@${rest}`
  }
  const [, oldStart = '', newStart = '', rest = ''] = BOTH_STARTS.exec(short) ?? []
  return `@@ -${range(oldStart, before)} +${range(newStart, after)} @@${rest}`
}

function range(start: string, count: number): string {
  return count === 1 ? start : `${start},${count}`
}

/** Lines that a hunk has of both files. */
export function countsOf(body: readonly string[]): { before: number; after: number } {
  let before = 0
  let after = 0
  for (const line of body) {
    const mark = line.charAt(0)
    if (mark === '\\') continue
    if (mark !== '+') before++
    if (mark !== '-') after++
  }
  return { before, after }
}
