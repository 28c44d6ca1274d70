/**
 * Returns what `work` resolves to, or `null` after `ms` milliseconds. Rejects if `work` rejects
 * before that. It uses a plain timer, because one with an AbortSignal costs a request more than
 * everything else that it waits for here.
 */
export function inTime<T>(work: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, null).unref()
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
