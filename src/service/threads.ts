import { randomInt } from 'node:crypto'
import { extname } from 'node:path'
import type { WorkerSetup } from '../../workers/protocol.ts'
import type { Config } from '../config/config.ts'
import { processEnv } from '../config/env.ts'
import { CONTENT_DEPTH, type FixedLimits } from '../config/fixed-limits.ts'
import { cacheFolder } from '../config/user-folders.ts'
import { createBodyMemory } from '../core/sessions/lines/memory-layout.ts'
import {
  createSharedSessions,
  releaseThread,
  type SharedSessions,
} from '../core/sessions/turn/shared-sessions.ts'
import type { Logger } from '../observability/logger.ts'
import { createProgress } from '../pool/slots.ts'
import { type StartThreads, startThreads, type Threads } from '../pool/threads.ts'
import { loadVocabularies } from '../runtime/vocabulary.ts'
import { CHUNK_BYTES } from '../store/redis/chunks.ts'
import { SHARED_FROM_BYTES } from './store.ts'

/** The worker threads, and the memory that they share with the main thread. */
export interface ConfiguredThreads {
  readonly threads: Threads
  readonly progress: SharedArrayBuffer
  readonly sessions: SharedSessions
  readonly rewrites: SharedArrayBuffer
}

export interface ThreadsOptions extends Pick<WorkerSetup, 'pipeline' | 'generation'> {
  readonly hasTelemetry: boolean
  /** Whether other processes share the sessions. */
  readonly isShared: boolean
  readonly logger: Logger
  readonly envelope: FixedLimits['envelope']
  readonly heapMb: number
  /** Instead of the module of the service. */
  readonly workerUrl: URL | undefined
  /** Instead of those that the cache folder keeps. */
  readonly vocabularies: WorkerSetup['vocabularies'] | undefined
}

/**
 * Conversations that all threads together remember, and those that each remembers if there are
 * many.
 */
const CONVERSATIONS = 64
const LEAST_CONVERSATIONS = 8

/** Live sessions, and results of all of them that may be referred to as a whole. */
const MAX_SESSIONS = 100_000
const MAX_ENTRIES = 500_000
/** Memory for recent rewrites, shared by all threads; it fills as it is used. */
const BODY_MEMORY_BYTES = 64 * 1024 * 1024
const REWRITE_BYTES = 64 * 1024 * 1024

/** Threads beyond `workers.count`, so that short jobs and long jobs never wait for each other. */
const KEPT_THREADS = 1

/** Texts that the shared store compresses: larger ones it cuts into chunks first. */
const SHARED_TEXTS = { fromBytes: SHARED_FROM_BYTES, toBytes: CHUNK_BYTES }

/** @param create starts the threads; a test may have one that runs every batch itself */
export function startConfiguredThreads(
  { workers, limits, ui, ledger }: Config,
  options: ThreadsOptions,
  create: StartThreads = startThreads,
): ConfiguredThreads {
  const { pipeline, generation, hasTelemetry, isShared, logger } = options
  const { envelope, heapMb, workerUrl, vocabularies } = options
  const size = workers.count + KEPT_THREADS
  const progress = createProgress(size)
  const sessions = createSharedSessions(
    {
      maxSessions: MAX_SESSIONS,
      maxEntries: MAX_ENTRIES,
      seeds: [randomInt(2 ** 32), randomInt(2 ** 32)],
    },
    BODY_MEMORY_BYTES,
  )
  const rewrites = createBodyMemory({ bytes: REWRITE_BYTES })
  const threads = create({
    size,
    workerUrl: workerUrl ?? workerModule('tasks'),
    heapMb,
    onCrash: error => logger.error({ err: error }, 'a worker thread died'),
    onExit: threadId => releaseThread(sessions, threadId),
    onShrunk: thread => logger.debug({ thread }, 'an idle worker thread gave memory back'),
    setup: () => ({
      asked: { sessions: isShared },
      ...(isShared && { compressed: SHARED_TEXTS }),
      vocabularies: vocabularies ?? loadVocabularies({ cacheDir: cacheFolder(processEnv()) }),
      progress,
      limits: {
        envelope,
        contentDepth: CONTENT_DEPTH,
        decodedChars: limits.max_body_bytes,
      },
      pipeline,
      ...(generation === undefined ? {} : { generation }),
      keepsTexts: ledger.enabled && ui.keep_texts === 'on',
      rewrites,
      conversations: Math.max(LEAST_CONVERSATIONS, Math.floor(CONVERSATIONS / workers.count)),
      hasTelemetry,
      sessions,
    }),
  })
  return { threads, progress, sessions, rewrites }
}

/** A module of `workers/`: TypeScript here, JavaScript in the published package. */
function workerModule(name: string): URL {
  return new URL(`../../workers/${name}${extname(import.meta.url)}`, import.meta.url)
}
