/**
 * What it resolves to, or `null` once that has taken `ms` milliseconds. Rejects as it does, but not
 * later. A plain timer: one with an AbortSignal costs a request more than all else that it waits
 * for here.
 */
export function inTime<T>(work: Promise<T>, ms: number): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, null).unref()
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
