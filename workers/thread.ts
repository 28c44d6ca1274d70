import { getPriority, setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'
import type { Operations } from '../src/core/operations/registry.ts'
import type { BatchMessage, BatchResult, WorkerSetup } from './protocol.ts'
import { createRunner } from './runner.ts'

/** How much a worker thread stands back, as Unix niceness. */
const NICENESS = 5

/**
 * The runner of this worker thread. It yields to the main thread where both want a processor: an answer
 * that waits to be sent, or a probe, should not wait for a batch. On Linux a priority is a thread's own;
 * elsewhere it would be the whole process's, and is left alone.
 */
export function startThread(operations: Operations): (message: BatchMessage) => BatchResult {
  standBack()
  return createRunner(operations, workerData as WorkerSetup)
}

function standBack(): void {
  if (process.platform !== 'linux') return
  try {
    if (getPriority(0) < NICENESS) setPriority(0, NICENESS)
  } catch {
    // Not allowed here; it only makes answers a little later.
  }
}
