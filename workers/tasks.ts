import { enableCompileCache } from 'node:module'

// A thread does not inherit the compile cache; without it, warm starts take 1.4 times as long.
enableCompileCache()
const [{ BYTE_OPERATIONS, OPERATIONS }, { startThread }] = await Promise.all([
  import('../src/core/operations/registry.ts'),
  import('./thread.ts'),
])

/** What the pool calls in each worker thread. */
export const runBatch = startThread({ ...OPERATIONS, ...BYTE_OPERATIONS })
