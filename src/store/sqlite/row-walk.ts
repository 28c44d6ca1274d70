import type { SQLOutputValue } from 'node:sqlite'

export type Row = Record<string, SQLOutputValue>

/**
 * The rows of a table that may be damaged, in the order of their ids; what cannot be read is passed
 * over.
 */
export interface RowWalk {
  next(): Row | undefined
  /** Places at which rows may be missing. */
  readonly gaps: number
}

/** No id is as large. */
const LAST_ID = 2 ** 48

/** @param after the first row after an id; may throw */
export function createRowWalk(after: (id: number) => Row | undefined): RowWalk {
  let cursor = 0
  let gaps = 0

  /** `null` if what lies there cannot be read. */
  function tryAfter(id: number): Row | undefined | null {
    try {
      const row = after(id)
      // A page in a wrong place may lead back.
      return row !== undefined && !(Number(row['id']) > id) ? null : row
    } catch {
      return null
    }
  }

  /**
   * The first row after the gap at the cursor: by doubled steps, then the smallest step that
   * works.
   */
  function beyond(): Row | undefined {
    let bad = 0
    let good = 1
    while (tryAfter(cursor + good) === null) {
      bad = good
      good *= 2
      if (good > LAST_ID) return undefined
    }
    while (good - bad > 1) {
      const middle = Math.floor((bad + good) / 2)
      if (tryAfter(cursor + middle) === null) bad = middle
      else good = middle
    }
    return tryAfter(cursor + good) ?? undefined
  }

  return {
    get gaps() {
      return gaps
    },
    next() {
      let row = tryAfter(cursor)
      if (row === null) {
        gaps++
        row = beyond()
      }
      if (row !== undefined) cursor = Number(row['id'])
      else cursor = LAST_ID
      return row
    },
  }
}
