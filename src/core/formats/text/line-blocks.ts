import { LINE_FEED } from '../../json/char-codes.ts'

/** A block of lines that stands more times in a row. */
export interface RepeatedBlock {
  /** The lines, each with its line feed. */
  readonly text: string
  readonly lines: number
  /** How many times it stands there, the first one included. */
  readonly times: number
  /** Where the text continues: after the line feed of the last one, if it has one. */
  readonly end: number
}

/** Finds blocks of lines that are repeated, while a text is read line by line. */
export interface BlockFinder {
  /**
   * Takes the next line, from `start` to `end` (exclusive). If the line begins the second time of a
   * block, the lines up to the block's end are skipped, and their block is returned.
   */
  pass(start: number, end: number): RepeatedBlock | null
  /** Begins again: the lines that follow do not follow the ones before. */
  forget(): void
}

/** Lines of a block: to a reader, a longer one is no repetition at a glance. */
const LEAST_LINES = 2
const MOST_LINES = 8
const LEAST_TIMES = 3
/** Characters that stay away at least. */
const LEAST_CHARS = 40

/** Places in the memory of lines: a power of two. */
const PLACES = 16

/**
 * A finder for a text. A line is compared with the 7 lines at which a block could begin. Only what
 * it returns is counted to its end, so the work is linear.
 */
export function createBlockFinder(text: string): BlockFinder {
  const starts = new Int32Array(PLACES)
  const lengths = new Int32Array(PLACES)
  /** The number of the next line, and of the first one of those that follow one another. */
  let next = PLACES
  let first = next

  function blockAt(start: number, lines: number): RepeatedBlock | null {
    const from = starts[(next - lines) & (PLACES - 1)]!
    const size = start - from
    // Where the second and the third time end, if there are so many.
    if (!endsLine(start + size - 1) || !endsLine(start + 2 * size - 1)) return null
    const block = text.slice(from, start)
    // Lines that are all equal are counted by themselves, or are blank.
    if (block.startsWith(block.slice(block.length / lines))) return null
    let end = start
    let times = 1
    while (text.startsWith(block, end)) {
      end += block.length
      times++
    }
    // The last line of the text has no line feed.
    const isLast = end + block.length - 1 === text.length
    if (isLast && text.startsWith(block.slice(0, -1), end)) {
      end = text.length + 1
      times++
    }
    if (times < LEAST_TIMES || block.length * (times - 1) < LEAST_CHARS) return null
    return { text: block, lines, times, end }
  }

  function endsLine(at: number): boolean {
    return at < text.length ? text.charCodeAt(at) === LINE_FEED : at === text.length
  }

  function find(start: number, length: number): RepeatedBlock | null {
    const most = Math.min(MOST_LINES, next - first)
    for (let lines = LEAST_LINES; lines <= most; lines++) {
      const other = (next - lines) & (PLACES - 1)
      if (lengths[other] !== length) continue
      const block = blockAt(start, lines)
      if (block !== null) return block
    }
    return null
  }

  function forget(): void {
    first = next
  }

  return {
    pass(start, end) {
      const found = find(start, end - start)
      if (found !== null) {
        forget()
        return found
      }
      starts[next & (PLACES - 1)] = start
      lengths[next & (PLACES - 1)] = end - start
      next++
      return null
    },
    forget,
  }
}
