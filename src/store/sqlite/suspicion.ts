import { checkTotals } from './open.ts'
import type { Opened } from './store-file.ts'

/**
 * After a process that did not close the file, every body is read once, beside the calls: damage
 * that no call meets would else be found when it is too late to say when it came.
 */
export interface Suspicion {
  readonly isOpen: boolean
  /** @throws DamagedFileError, or SQLite's error */
  step(opened: Opened): void
}

/** Bodies of one step; it ends earlier after 8 MiB. */
const STEP_BODIES = 64

export function createSuspicion(isOpen: boolean): Suspicion {
  let cursor: number | null = isOpen ? 0 : null

  return {
    get isOpen() {
      return cursor !== null
    },
    step({ database, engine }) {
      database.exec('BEGIN')
      try {
        const checked = engine.reads.verify(STEP_BODIES, cursor ?? 0)
        const next = checked.ok ? checked.cursor : null
        if (next === null) checkTotals(database)
        cursor = next
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK')
      }
    },
  }
}
