import { workerData } from 'node:worker_threads'
import { OPERATIONS } from '../../src/core/operations/registry.ts'
import type { WorkerSetup } from '../../workers/protocol.ts'
import { createRunner } from '../../workers/runner.ts'
import { noopOperation } from './noop.ts'

/** The workers of the service, with one more operation. */
export const runBatch = createRunner(
  { ...OPERATIONS, noop: noopOperation },
  workerData as WorkerSetup,
)
