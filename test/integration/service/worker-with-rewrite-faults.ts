import type { ByteOperation } from '../../../src/core/operations/operation.ts'
import { BYTE_OPERATIONS, OPERATIONS } from '../../../src/core/operations/registry.ts'
import { startThread } from '../../../workers/thread.ts'

const FAULTS: Readonly<Record<string, () => never>> = {
  'fault-exit': () => process.exit(7),
  // Like a loop without an end, but for the processor time.
  'fault-hang': () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    throw new Error('woken')
  },
  'fault-bug': () => {
    throw new TypeError('secret')
  },
}

/** Ends badly where the body says so. */
function faulty(operation: ByteOperation): ByteOperation {
  return {
    ...operation,
    run(body, context) {
      for (const [name, fail] of Object.entries(FAULTS)) {
        if (Buffer.from(body).includes(name)) fail()
      }
      return operation.run(body, context)
    },
  }
}

/** The workers of the service, in which rewriting may fail in every bad way there is. */
export const runBatch = startThread({
  ...OPERATIONS,
  ...Object.fromEntries(
    Object.entries(BYTE_OPERATIONS).map(([name, operation]) => [name, faulty(operation)]),
  ),
})
