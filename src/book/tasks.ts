import type { DatabaseSync } from 'node:sqlite'
import { AppError } from '../core/base/errors.ts'
import { createSteadyClock } from '../core/base/steady-clock.ts'
import { makeFolder } from '../files/make-folder.ts'
import { SecretFileError } from '../runtime/secret-file.ts'
import type { Codec, StoreKey } from '../store/values/codec.ts'
import type { Arrival } from './arrivals.ts'
import { EventFiles, type EventsTerms, type EventTally } from './events/event-files.ts'
import { fileIdentity, openLedgerFile, whyAway } from './rows/database.ts'
import { readTexts, textCodec } from './rows/kept-texts.ts'
import { type LedgerLimits, prune } from './rows/prune.ts'
import { type DayWindow, readGain } from './rows/read-days.ts'
import {
  readConversation,
  readConversations,
  readLatest,
  readOverview,
  readResult,
  readTools,
  type Window,
} from './rows/read-rows.ts'
import { RowWriter } from './rows/write-rows.ts'

/** Which ledger a task is for. */
interface Folder {
  readonly folder: string
}

/** Keys of texts; empty: the folder's own. `null`: they are not kept. */
interface Keys {
  readonly keys: readonly StoreKey[] | null
}

interface PruneInput {
  readonly limits: LedgerLimits
  /** Unix milliseconds. */
  readonly now: number
}

/** What is done about the files of telemetry: see `EventFiles`. */
export type EventsStep = 'flush' | 'lookAfter' | 'settle' | 'end'

/** Telemetry; `null`: there is none. */
interface Events {
  readonly events: EventsTerms | null
}

interface WriteInput extends Folder, Keys, Events {
  readonly arrivals: readonly Arrival[]
  readonly hasLedger: boolean
}

interface Opened {
  /** Identifies the file: another one may take its place. */
  readonly identity: string | null
  readonly database: DatabaseSync
  readonly writer: RowWriter
  prunedAt: number
}

const PRUNE_MS = 60_000

export type Tasks = ReturnType<typeof createTasks>

/** What the thread of the book does. All tasks are for one folder. */
export function createTasks() {
  let opened: Opened | null = null
  let isFolderMade = false
  let codec: Codec | null = null
  let files: EventFiles | null = null

  function open({ folder }: Folder): Opened {
    if (opened !== null && opened.identity === fileIdentity(folder)) return opened
    opened?.database.close()
    opened = null
    // A folder that went away is not made again: it may be a volume that comes back.
    if (!isFolderMade) makeFolder(folder)
    isFolderMade = true
    const database = openLedgerFile(folder)
    const identity = fileIdentity(folder)
    opened = { database, writer: new RowWriter(database), prunedAt: 0, identity }
    return opened
  }

  /** `null`: texts are not kept, or their key cannot be used. */
  function codecOf({ folder, keys }: Folder & Keys): Codec | null {
    try {
      if (keys !== null) codec ??= textCodec(folder, keys)
    } catch (error) {
      if (!(error instanceof SecretFileError)) throw error
    }
    return keys === null ? null : codec
  }

  function filesOf({ events }: Events): EventFiles | null {
    if (events === null) return null
    const [now, random] = [Date.now, Math.random]
    const steadyNow = createSteadyClock({ wall: now, stopwatch: () => performance.now() })
    files ??= new EventFiles(events, { now, steadyNow, random })
    return files
  }

  return orAway({
    /** Writes rows, and then events, also if the ledger failed for good. */
    async write(input: WriteInput): Promise<EventTally | null> {
      let failure: unknown
      try {
        if (input.hasLedger) open(input).writer.write(input.arrivals, codecOf(input))
      } catch (error) {
        if (whyAway(error) !== null) throw error
        failure = error
      }
      const own = filesOf(input)
      for (const each of input.arrivals) own?.note(each)
      await own?.flush()
      if (failure !== undefined) throw failure
      return own?.tally() ?? null
    },
    /** Takes a step of telemetry; `end` closes the ledger's file, too. */
    async events(
      input: Folder & Events & { readonly step: EventsStep },
    ): Promise<EventTally | null> {
      if (input.step === 'end') {
        opened?.database.close()
        opened = null
      }
      const own = filesOf(input)
      await own?.[input.step]()
      return own?.tally() ?? null
    },
    /** Removes what is beyond the limits, at most once in a while. */
    prune(input: Folder & PruneInput): void {
      const { limits, now } = input
      const ledger = open(input)
      if (Math.abs(now - ledger.prunedAt) < PRUNE_MS) return
      prune(ledger.database, limits, now)
      ledger.prunedAt = now
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
    texts(input: Folder & Keys & { tenant: string; id: number; now: number }) {
      const own = codecOf(input)
      return own === null ? null : readTexts(open(input).database, own, input)
    },
    latest: (input: Folder & { readonly tenant: string; readonly limit: number }) =>
      readLatest(open(input).database, input.tenant, input.limit),
    gain: (input: Folder & DayWindow) => readGain(open(input).database, input),
  })
}

type Task<Input, Output> = (input: Input) => Output

/** The same tasks, of which each throws `overloaded` if the file cannot be used for now. */
// biome-ignore lint/suspicious/noExplicitAny: each task has an input of its own
function orAway<Tasks extends Readonly<Record<string, Task<any, unknown>>>>(tasks: Tasks): Tasks {
  const guarded = Object.entries(tasks).map(([name, task]) => [
    name,
    async (input: unknown) => {
      try {
        return await task(input)
      } catch (error) {
        const detail = whyAway(error)
        if (detail === null) throw error
        throw new AppError('overloaded', detail, { retry_after_s: 1 }, error)
      }
    },
  ])
  return Object.fromEntries(guarded) as Tasks
}
