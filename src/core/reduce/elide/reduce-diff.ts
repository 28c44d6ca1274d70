import { hunkEnd } from '../../classify/hunk-end.ts'
import { longLineGaps } from './long-lines.ts'
import { BULK, CRITICAL, raise, STRUCTURE, type TextReducer } from './reducer.ts'

/**
 * A hunk's place and length in both files (unified format); a question may stand before it, as `git
 * add -p` asks.
 */
const HUNK = /@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/
const NO_NEWLINE = '\\'

/** Lines of context that stay on both sides of a change. */
const CONTEXT = 2
/**
 * Share of the lines that must be hunks and their headers. With fewer, the diff is only a part of
 * the text.
 */
const DIFF_SHARE = 0.5

/** A unified diff. Kept are every changed line, every header, and the nearest context. */
export const diffReducer: TextReducer = {
  kind: 'diff',
  accepts({ lines }) {
    let inHunks = 0
    for (const { start, end } of hunksOf(lines)) inHunks += end - start
    return inHunks > 0 && inHunks >= lines.length * DIFF_SHARE
  },
  rank({ lines }) {
    const ranks = new Uint8Array(lines.length).fill(STRUCTURE)
    const isInHunk = new Uint8Array(lines.length)
    for (const { start, end } of hunksOf(lines)) {
      isInHunk.fill(1, start, end)
      ranks.fill(BULK, start + 1, end)
      for (let at = start + 1; at < end; at++) {
        if (!isChange(lines[at]!)) continue
        ranks[at] = CRITICAL
        raise(ranks, Math.max(start, at - CONTEXT), Math.min(end, at + CONTEXT + 1), STRUCTURE)
      }
    }
    return { ranks, inner: longLineGaps(lines, at => isInHunk[at] === 0) }
  },
}

function isChange(line: string): boolean {
  const first = line.charAt(0)
  return first === '+' || first === '-' || first === NO_NEWLINE
}

/**
 * Runs of lines that are hunks, from their headers on, with the length that their headers state.
 */
function* hunksOf(lines: readonly string[]): Generator<{ start: number; end: number }> {
  for (let at = 0; at < lines.length; at++) {
    const hunk = HUNK.exec(lines[at]!)
    if (hunk === null) continue
    const end = hunkEnd(lines, at, hunk.slice(1))
    yield { start: at, end }
    at = end - 1
  }
}
