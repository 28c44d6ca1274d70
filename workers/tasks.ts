import { workerData } from 'node:worker_threads'
import { OPERATIONS } from '../src/core/operations/registry.ts'
import type { WorkerSetup } from './protocol.ts'
import { createRunner } from './runner.ts'

/** What the pool calls in each worker thread. */
export const runBatch = createRunner(OPERATIONS, workerData as WorkerSetup)
