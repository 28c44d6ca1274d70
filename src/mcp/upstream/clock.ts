/** Time and chance, as parameters. */
export interface Clock {
  /** Milliseconds; never jumps. */
  now(): number
  /** Calls the handler once, unless the returned function is called before. */
  after(ms: number, handler: () => void): () => void
  /** From 0 to 1, without 1. */
  random(): number
}

/** The longest that a timer of Node waits. */
const LONGEST_MS = 2 ** 31 - 1

/** The clock of this process. Its timers do not keep the process running. */
export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, handler) {
    const timer = setTimeout(handler, Math.min(ms, LONGEST_MS)).unref()
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
}

/** Resolves after that time, or once the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve()
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal.addEventListener('abort', end)
  })
}
