/** Called at the exit until they return true. */
const held = new Set<() => boolean>()

/**
 * The longest that the exit waits, in milliseconds. A thread that ran out of memory in its unbroken
 * work never leaves it.
 */
const MOST_MS = 5_000
const PAUSE_MS = 1

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
  const end = performance.now() + MOST_MS
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const mayAllExit = () => [...held].map(mayExit => mayExit()).every(Boolean)
  while (!mayAllExit() && performance.now() < end) Atomics.wait(never, 0, 0, PAUSE_MS)
}
