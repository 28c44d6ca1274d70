/** Notes of authors, and statements that end a run: they mean more than a body's other lines. */
const NOTE = /\b(?:TODO|FIXME|XXX|HACK|BUG|SAFETY)\b/
const STOP = /\b(?:throw|raise|panic|assert|abort|unreachable|exit)\b/

/** Whether a line of code stays wherever it stands. */
export function isTelling(line: string, code: string): boolean {
  return NOTE.test(line) || STOP.test(code)
}
