/**
 * Returns what `work` resolves to, or `null` after `ms` milliseconds. Rejects if `work` rejects
 * before that. What came while this thread was busy counts as in time. It uses a plain timer,
 * because one with an AbortSignal costs a request more than everything else that it waits for here.
 */
export function inTime<T>(work: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    // A timer that is due fires before the sockets are read.
    const timer = setTimeout(() => setImmediate(resolve, null), ms).unref()
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
