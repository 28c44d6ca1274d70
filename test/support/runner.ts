import { valueSymbol } from 'piscina'
import { OPERATIONS, type Operations } from '../../src/core/operations/registry.ts'
import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/default-pipeline.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import type { SharedCounters } from '../../src/core/tokens/counters.ts'
import { createProgress } from '../../src/pool/slots.ts'
import type { Threads } from '../../src/pool/threads.ts'
import type { BatchMessage, BatchResult, JobHeader, WorkerSetup } from '../../workers/protocol.ts'
import { createRunner } from '../../workers/thread.ts'
import { counters, vocabularies } from './vocabularies.ts'

const LIMITS = {
  envelope: { maxDepth: 64, maxValues: 100_000 },
  contentDepth: 100,
  decodedChars: 1_000_000,
} as const

export function workerSetup(threads = 1): WorkerSetup {
  return {
    asked: { sessions: true },
    vocabularies,
    progress: createProgress(threads),
    limits: LIMITS,
    pipeline: DEFAULT_PIPELINE,
    rewrites: createBodyMemory({ bytes: 1 << 18 }),
    conversations: 4,
  }
}

/** The counters of this thread, which all runners in it share: each takes milliseconds to create. */
export function countersFor(setup: WorkerSetup): { readonly counters?: SharedCounters } {
  return setup.vocabularies === vocabularies ? { counters } : {}
}

/** The runner of a worker, in this thread. */
export function inlineRunner(
  operations: Operations = OPERATIONS,
  setup: WorkerSetup = workerSetup(),
): (message: BatchMessage) => BatchResult {
  const runBatch = createRunner(operations, setup, countersFor(setup))
  return message =>
    (runBatch(message) as unknown as Record<symbol, BatchResult>)[valueSymbol] as BatchResult
}

/** Threads that are none: every batch runs at once in this thread. */
export function inlineThreads(runBatch = inlineRunner()): Threads {
  return {
    size: 1,
    run: async message => runBatch(message),
    close: async () => {},
  }
}

/** A job's header for a body that is alone in its message. */
export function header(op: string, bytes: Uint8Array, fields: Partial<JobHeader> = {}): JobHeader {
  return {
    op,
    tenant: '',
    media: 'json',
    accept: 'json',
    start: 0,
    length: bytes.length,
    phase: 'whole',
    ...fields,
  }
}

/** Bytes in a buffer of their own. */
export function bytesOf(text: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(typeof text === 'string' ? new TextEncoder().encode(text) : text)
}
