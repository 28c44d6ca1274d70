import type { Failure } from '../store.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import { markSalvaged, unsalvaged } from './damaged-files.ts'
import type { Answer, OperationName } from './protocol.ts'
import type { Restore } from './restore.ts'
import { createSalvage, type Salvage } from './salvage.ts'
import type { Settings } from './settings.ts'

/**
 * Carries damaged files over into the new one, between the calls, and decides which calls may run
 * meanwhile.
 */
export interface Transfer {
  readonly isOn: boolean
  /** Goes on with the newest file that was not carried over to its end, if there is one. */
  begin(): void
  /**
   * Carries rows over until it is time to stop, inside a write transaction; whether it came to the
   * end.
   */
  step(restore: Restore, isOver: () => boolean): boolean
  /**
   * Called when the carried-over rows are durable: reports them, and continues with the next file.
   */
  end(): void
  /** Begins again after a step was rolled back. Rows that are there already stay unchanged. */
  restart(): void
  /** Why a call must wait until all is carried over. */
  refusal(op: OperationName): Failure | undefined
  /** Corrects an answer of "not found", because the row may still be carried over. */
  corrected<T extends Answer<OperationName>>(op: OperationName, answer: T): T | Failure
  close(): void
}

export interface TransferOptions {
  readonly settings: Settings
  /** The path of the main file. */
  readonly path: string
  readonly clock: () => number
  onEvent(event: StoreEvent): void
}

const SALVAGING = fail('busy', 'what a damaged file had is being carried over')

/** A purge must find all that there is, in whichever process it is carried over. */
const PURGES: ReadonlySet<OperationName> = new Set<OperationName>([
  'disownSession',
  'disownTenant',
  'deleteRecord',
])
const OF_RECORDS: ReadonlySet<OperationName> = new Set<OperationName>(['readRecord', 'writeRecord'])
const OF_BODIES: ReadonlySet<OperationName> = new Set<OperationName>(['get', 'part', 'touch'])

export function createTransfer({ settings, path, clock, onEvent }: TransferOptions): Transfer {
  let target: string | undefined
  let salvage: Salvage | null = null
  let begun = false

  function end(): void {
    if (salvage === null || target === undefined) return
    onEvent(salvage.sum())
    salvage.close()
    salvage = null
    markSalvaged(target)
    begin()
  }

  function begin(): void {
    if (settings.mustExist || salvage !== null) return
    target = unsalvaged(path)
    begun = false
    salvage = target === undefined ? null : createSalvage(target, settings)
  }

  return {
    get isOn() {
      return salvage !== null
    },
    begin,
    step(restore, isOver) {
      if (!begun) restore.begin(clock())
      begun = true
      while (salvage?.next(restore, clock()) === true) if (isOver()) return false
      return true
    },
    end,
    restart() {
      salvage?.close()
      salvage = null
      begin()
    },
    refusal(op) {
      if (PURGES.has(op)) return unsalvaged(path) === undefined ? undefined : SALVAGING
      return salvage?.isAtRecords === true && OF_RECORDS.has(op) ? SALVAGING : undefined
    },
    corrected(op, answer) {
      if (salvage === null || answer.ok || answer.reason !== 'not_found') return answer
      return OF_BODIES.has(op) ? SALVAGING : answer
    },
    close: () => salvage?.close(),
  }
}
