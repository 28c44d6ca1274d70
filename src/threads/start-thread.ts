import { setTimeout } from 'node:timers/promises'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { endThread } from '../core/base/unbroken.ts'
import type { ThreadSetup } from './own-thread.ts'

export interface ThreadOptions {
  readonly name: string
  /** What `ownThread` returns in the thread. It is cloned. */
  readonly data?: unknown
  readonly resourceLimits?: ResourceLimits
}

/** Between two looks at threads that are in unbroken work, in milliseconds. */
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

/** Called at the exit until they return true. */
const held = new Set<() => boolean>()

/**
 * The longest that the exit waits, in milliseconds. A thread that ran out of memory in its unbroken
 * work never leaves it.
 */
const MOST_HELD_MS = 5_000

let isListening = false

/**
 * Holds the exit of the process, which terminates all threads at once. @param mayExit decides
 * that threads end, and returns whether all of them may be terminated @returns what ends the hold
 */
export function holdExit(mayExit: () => boolean): () => void {
  if (!isListening) process.on('exit', waitForAll)
  isListening = true
  held.add(mayExit)
  return () => void held.delete(mayExit)
}

/** Blocks, because there is no turn of the event loop after this one. */
function waitForAll(): void {
  const end = performance.now() + MOST_HELD_MS
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const mayAllExit = () => [...held].map(mayExit => mayExit()).every(Boolean)
  while (!mayAllExit() && performance.now() < end) Atomics.wait(never, 0, 0, PAUSE_MS)
}
