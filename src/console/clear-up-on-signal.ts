/** Signals that end a process by default. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Cleans up when a signal comes, and then lets the signal end the process. @returns a function that
 * stops this
 */
export function clearUpOnSignal(clearUp: () => void): () => void {
  const end = (signal: NodeJS.Signals) => {
    clearUp()
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.once(signal, end)
  return () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}
