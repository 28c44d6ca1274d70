import { getPriority, setPriority } from 'node:os'
import { threadId, workerData } from 'node:worker_threads'
import type { Operations } from '../src/core/operations/registry.ts'
import { createHeap } from './heap.ts'
import type {
  BatchMessage,
  BatchResult,
  ShrinkMessage,
  ShrinkResult,
  WorkerSetup,
} from './protocol.ts'
import { createRunner } from './runner.ts'

/** How much a worker thread stands back, as Unix niceness. */
const NICENESS = 5

/** What a thread does with each message. */
type Runner = (message: BatchMessage | ShrinkMessage) => BatchResult | ShrinkResult

/**
 * The runner of this worker thread. It yields to the main thread if both want a processor: an
 * answer that waits to be sent, or a probe, should not wait for a batch. On Linux a priority is a
 * thread's own; elsewhere it would be the whole process's, and is left alone.
 */
export function startThread(operations: Operations): Runner {
  standBack()
  const heap = createHeap()
  const runBatch = createRunner(operations, workerData as WorkerSetup, heap)
  return message => {
    if (!('shrinkThread' in message)) return runBatch(message)
    const isShrunk = message.shrinkThread === threadId
    if (isShrunk) heap.shrink()
    return { isShrunk }
  }
}

function standBack(): void {
  if (process.platform !== 'linux') return
  try {
    if (getPriority(0) < NICENESS) setPriority(0, NICENESS)
  } catch {
    // Not allowed here; it only makes answers a little later.
  }
}
