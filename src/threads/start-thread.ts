import { setTimeout } from 'node:timers/promises'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { endThread } from '../core/base/unbroken.ts'
import { holdExit } from './hold-exit.ts'
import type { ThreadSetup } from './own-thread.ts'

export interface ThreadOptions {
  readonly name: string
  /** What `ownThread` returns in the thread. It is cloned. */
  readonly data?: unknown
  readonly resourceLimits?: ResourceLimits
}

/** Between two looks at a thread that is in unbroken work, in milliseconds. */
const PAUSE_MS = 1

/**
 * Starts a thread whose end never ends the process. Its module calls `ownThread`. `terminate` waits
 * for unbroken work of the thread, which takes a bounded time, and for nothing else. The end of the
 * process waits for it too.
 */
export function startThread(module: URL, { name, data, resourceLimits }: ThreadOptions): Worker {
  const protection = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const cells = new Int32Array(protection)
  const workerData: ThreadSetup = { protection, data }
  const limits = resourceLimits === undefined ? {} : { resourceLimits }
  const worker = new Worker(module, { name, workerData, ...limits })
  const terminate = worker.terminate.bind(worker)
  let hasEnded = false
  // A thread that was lost in its work leaves its cell busy.
  const mayEnd = () => hasEnded || endThread(cells, 0)
  const release = holdExit(mayEnd)
  worker.once('exit', () => {
    hasEnded = true
    release()
  })
  return Object.assign(worker, {
    async terminate(): Promise<number> {
      while (!mayEnd()) await setTimeout(PAUSE_MS)
      return terminate()
    },
  })
}
