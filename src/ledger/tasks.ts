import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../core/base/errors.ts'
import { fileIdentity, isBusy, openLedgerFile } from './database.ts'
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
  /** Of the file: another one may take its place. */
  readonly identity: string | null
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
    if (opened !== null && opened.identity === fileIdentity(folder)) return opened
    opened?.database.close()
    opened = null
    const database = openLedgerFile(folder)
    const identity = fileIdentity(folder)
    opened = { database, writer: new RowWriter(database), prunedAt: 0, identity }
    return opened
  }

  return orBusy({
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
  })
}

type Task<Input, Output> = (input: Input) => Output

/** The same tasks, of which each throws `overloaded` if another process holds the file. */
// biome-ignore lint/suspicious/noExplicitAny: each task has an input of its own
function orBusy<Tasks extends Readonly<Record<string, Task<any, unknown>>>>(tasks: Tasks): Tasks {
  const guarded = Object.entries(tasks).map(([name, task]) => [
    name,
    (input: unknown) => {
      try {
        return task(input)
      } catch (error) {
        if (!isBusy(error)) throw error
        const detail = 'another process holds the ledger'
        throw new AppError('overloaded', detail, { retry_after_s: 1 }, error)
      }
    },
  ])
  return Object.fromEntries(guarded) as Tasks
}
