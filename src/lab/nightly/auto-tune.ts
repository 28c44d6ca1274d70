import { extname, join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import { processEnv } from '../../config/env.ts'
import type { LayersPlace } from '../../config/layers/read-layers.ts'
import { LOCAL_TENANT } from '../../core/base/tenant-name.ts'
import type { Logger } from '../../observability/logger.ts'
import { FolderBusy, type FolderLock, lockFolder } from '../../runtime/folder-lock.ts'
import { startThread } from '../../threads/start-thread.ts'
import { loadProposals } from '../versions/proposals.ts'
import { logFolders } from './log-folders.ts'

/** What the thread is to do. */
export interface TuningTask {
  readonly place: LayersPlace
  readonly tenant: string
  readonly logs: readonly string[]
  readonly sinceMs: number
  readonly mode: 'propose' | 'apply'
  /** Providers whose figures are believed. */
  readonly providers: readonly string[]
  /** The priority of the thread, from -20 to 19, the lowest. */
  readonly niceness: number
}

/** What it did, without any content. */
export interface TuningDone {
  readonly tenant: string
  readonly conversations: number
  /** Proposals that the guard accepted. */
  readonly accepted: number
  /** The version that was written; absent: none. */
  readonly version?: string
}

export interface AutoTuneOptions {
  /** What `tune.auto` says, asked each time. */
  mode(): Config['tune']['auto']
  /** Files and folders of logs; absent: where agents keep theirs. */
  readonly logs?: readonly string[]
  /** Names of configured providers, asked each time. */
  providers(): readonly string[]
  readonly place: LayersPlace
  readonly configurations: { reload(): Promise<void> }
  readonly logger: Pick<Logger, 'info' | 'error'>
  /** Unix milliseconds. */
  now(): number
  /** Default 19: requests come first. On a busy machine such a thread may wait for minutes. */
  readonly niceness?: number
}

export interface AutoTune {
  close(): Promise<void>
}

/** Held by the process that analyzes logs for a tenant. */
const LOCK = 'analysis.lock'
/** From one analysis to the next. */
const INTERVAL_MS = 7 * 86_400_000
/** How often the age of the last analysis is looked at. */
const LOOK_MS = 60_000
/** The first look: a start has other work. */
const FIRST_LOOK_MS = 1_000
/** The lowest priority. On Linux it is the thread's own. */
const NICENESS = 19
const DAY_MS = 86_400_000
/** Logs that are older are passed over. */
const DAYS = 30

/**
 * Analyzes the logs of agents from time to time, in a thread of its own with the lowest priority.
 * The last analysis counts, by whatever process, so a restart begins none. Of processes with a
 * common data folder one analyzes, and the others look again later. If an analysis fails, the log
 * reports it, and the next one is due after the same time.
 */
export function openAutoTune(options: AutoTuneOptions): AutoTune {
  const { place, configurations, logger, now, niceness = NICENESS } = options
  let worker: Worker | null = null
  let failedAt = Number.NEGATIVE_INFINITY

  function look(): void {
    const mode = options.mode()
    if (mode === 'off' || worker !== null || !isDue()) return
    let lock: FolderLock | null = null
    try {
      lock = lockFolder(join(place.data_dir, 'tuned', 'proposals'), LOCK)
      // Meanwhile another process may have ended its analysis.
      if (isDue()) start(mode, lock)
      else lock.close()
    } catch (error) {
      lock?.close()
      if (!(error instanceof FolderBusy)) failed(error)
    }
  }

  function isDue(): boolean {
    const made = loadProposals(place.data_dir, LOCAL_TENANT)?.created_at
    const last = Math.max(failedAt, made === undefined ? 0 : Date.parse(made))
    // A clock that was ahead must not keep analyses away.
    return now() - last >= INTERVAL_MS || last > now()
  }

  function failed(err: unknown): void {
    failedAt = now()
    logger.error({ err }, 'logs cannot be analyzed')
  }

  function start(mode: TuningTask['mode'], lock: FolderLock): void {
    const module = new URL(`./thread${extname(import.meta.url)}`, import.meta.url)
    const { logs = logFolders(processEnv()) } = options
    const task: TuningTask = {
      place,
      tenant: LOCAL_TENANT,
      logs,
      mode,
      niceness,
      sinceMs: now() - DAYS * DAY_MS,
      providers: options.providers(),
    }
    logger.info({ tenant: LOCAL_TENANT, mode }, 'logs are analyzed')
    const started = startThread(module, { name: 'tuning', data: task })
    worker = started
    started.on('message', (done: TuningDone) => {
      logger.info({ ...done }, 'logs analyzed')
      if (done.version !== undefined) void configurations.reload()
    })
    started.on('error', failed)
    started.on('exit', () => {
      worker = null
      lock.close()
    })
    started.unref()
  }

  const first = setTimeout(look, FIRST_LOOK_MS).unref()
  const timer = setInterval(look, LOOK_MS).unref()
  return {
    async close() {
      clearTimeout(first)
      clearInterval(timer)
      // Files are renamed into place when they are complete.
      await worker?.terminate()
    },
  }
}
