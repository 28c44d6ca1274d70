import type { DatabaseSync } from 'node:sqlite'
import { openLedgerFile } from './database.ts'
import { type LedgerLimits, prune } from './prune.ts'
import {
  readConversation,
  readConversations,
  readLatest,
  readOverview,
  readResult,
  readTools,
  type Window,
} from './read-rows.ts'
import { type Arrivals, RowWriter } from './write-rows.ts'

/** Which ledger a task is for. */
interface Folder {
  readonly folder: string
}

interface WriteInput {
  readonly arrivals: Arrivals
  readonly limits: LedgerLimits
  /** Unix milliseconds. */
  readonly now: number
}

interface Opened {
  readonly database: DatabaseSync
  readonly writer: RowWriter
  prunedAt: number
}

const PRUNE_MS = 60_000

export type Tasks = ReturnType<typeof createTasks>

/** What the thread of the ledger does. All tasks are for one folder. */
export function createTasks() {
  let opened: Opened | null = null

  function open({ folder }: Folder): Opened {
    if (opened !== null) return opened
    const database = openLedgerFile(folder)
    opened = { database, writer: new RowWriter(database), prunedAt: 0 }
    return opened
  }

  return {
    write(input: Folder & WriteInput): void {
      const { arrivals, limits, now } = input
      const ledger = open(input)
      ledger.writer.write(arrivals)
      if (Math.abs(now - ledger.prunedAt) < PRUNE_MS) return
      ledger.prunedAt = now
      prune(ledger.database, limits, now)
    },
    overview: (input: Folder & Window & { readonly hours: number }) =>
      readOverview(open(input).database, input, input.hours),
    tools: (input: Folder & Window) => readTools(open(input).database, input),
    conversations: (
      input: Folder & { readonly tenant: string; readonly offset: number; readonly limit: number },
    ) => readConversations(open(input).database, input.tenant, input),
    conversation: (input: Folder & { readonly tenant: string; readonly id: string }) =>
      readConversation(open(input).database, input.tenant, input.id),
    result: (input: Folder & { readonly tenant: string; readonly id: number }) =>
      readResult(open(input).database, input.tenant, input.id),
    latest: (input: Folder & { readonly tenant: string; readonly limit: number }) =>
      readLatest(open(input).database, input.tenant, input.limit),
    /** Closes the file. */
    end(_: Folder): void {
      opened?.database.close()
      opened = null
    },
  }
}
