import type { DiffFile } from './diff-files.ts'

/** Lines, and characters without white space, that a block has at least. */
const LEAST_LINES = 6
const LEAST_CHARS = 120

/** A run of removed or added lines without other lines between them. */
interface Block {
  readonly start: number
  readonly end: number
}

/**
 * Removed lines of blocks that the diff adds elsewhere with the same text: whole runs of removed
 * lines that are equal to a whole run of added lines. The first line of each is not among them.
 * Linear.
 * @param files those whose added lines are shown
 */
export function movedLines(
  lines: readonly string[],
  files: readonly DiffFile[],
): ReadonlySet<number> {
  const added = new Map<string, number>()
  const removed: Block[] = []
  const textOf = ({ start, end }: Block) => {
    let text = ''
    for (let at = start; at < end; at++) text += `${lines[at]!.slice(1)}\n`
    return text
  }
  for (const { hunks } of files) {
    for (const hunk of hunks) {
      for (const sign of ['-', '+']) {
        for (const block of blocksOf(lines, hunk, sign)) {
          if (sign === '-') removed.push(block)
          else {
            const text = textOf(block)
            added.set(text, (added.get(text) ?? 0) + 1)
          }
        }
      }
    }
  }
  const moved = new Set<number>()
  for (const block of removed) {
    const text = textOf(block)
    const left = added.get(text) ?? 0
    if (left === 0 || text.replace(/\s/g, '').length < LEAST_CHARS) continue
    added.set(text, left - 1)
    for (let at = block.start + 1; at < block.end; at++) moved.add(at)
  }
  return moved
}

function* blocksOf(
  lines: readonly string[],
  { start, end }: Block,
  sign: string,
): Generator<Block> {
  let from = -1
  for (let at = start + 1; at <= end; at++) {
    const isIn = at < end && lines[at]!.startsWith(sign)
    if (isIn && from === -1) from = at
    if (isIn || from === -1) continue
    if (at - from >= LEAST_LINES) yield { start: from, end: at }
    from = -1
  }
}
