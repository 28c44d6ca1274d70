import { enableCompileCache } from 'node:module'
import { workerData } from 'node:worker_threads'
import type { WorkerSetup } from './protocol.ts'

// A thread does not inherit the compile cache; without it, warm starts take 1.4 times as long.
enableCompileCache()
const [{ OPERATIONS }, { createRunner }] = await Promise.all([
  import('../src/core/operations/registry.ts'),
  import('./runner.ts'),
])

/** What the pool calls in each worker thread. */
export const runBatch = createRunner(OPERATIONS, workerData as WorkerSetup)
