import type { TaskThread } from '../../runtime/task-thread.ts'
import type { StoreKey } from '../../store/values/codec.ts'
import type { Origin } from './day-sums.ts'
import type { LedgerLimits } from './prune.ts'
import type { Tasks } from './tasks.ts'

export interface LedgerOptions {
  /** The data folder, in which the ledger has a file. */
  readonly folder: string
  readonly limits: LedgerLimits
  /** Whether sums name projects. */
  readonly hasProjects?: boolean
  /** Keys of the texts of results; empty: one of the folder's own. Absent: none are kept. */
  readonly textKeys?: readonly StoreKey[] | null
  /** Where all that is not known to be from elsewhere comes from. */
  readonly origin?: Origin
  /** Unix milliseconds. */
  now(): number
  /** Called once when writes begin to fail, with the reason. */
  onUnwritten(detail: string): void
  /** Counts rows that were dropped, because too many waited or a write failed. */
  onDropped(count: number): void
  onBug(bug: string): void
  /** How long a row waits at most, in milliseconds. */
  readonly flushMs?: number
  /** Instead of a thread of its own, for tests. */
  readonly thread?: LedgerThread
}

export type LedgerThread = Pick<TaskThread<Tasks>, 'run' | 'close'>
