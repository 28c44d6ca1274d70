import { OPERATIONS } from '../../src/core/operations/registry.ts'
import { startThread } from '../../workers/thread.ts'
import { noopOperation } from './noop.ts'

/** The workers of the service, with one more operation. */
export const runBatch = startThread({ ...OPERATIONS, noop: noopOperation })
