import { parentPort, workerData } from 'node:worker_threads'
import { attachIndex } from '../../../../src/core/sessions/index/attach.ts'
import { SHARD, shardAt, viewIndex } from '../../../../src/core/sessions/index/layout.ts'
import { acquire } from '../../../../src/core/sessions/index/lock.ts'
import { sessionKey } from '../../../../src/core/sessions/index/session-index.ts'

/** One thread that takes the lock of the only shard and keeps it, and one that wants it. */
const { memory, role, owner } = workerData as {
  memory: SharedArrayBuffer
  role: 'holder' | 'waiter'
  owner: number
}
const { words } = viewIndex(memory)

if (role === 'holder') {
  acquire(words, shardAt(viewIndex(memory), 0) + SHARD.lock, owner, Infinity)
  parentPort?.postMessage('has the lock')
  // Ends by being terminated only.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
} else {
  parentPort?.postMessage('about to wait')
  const turn = attachIndex(memory, { owner }).begin(sessionKey('t', 's'), { timeMs: 2 })
  parentPort?.postMessage(turn.sequence)
}
