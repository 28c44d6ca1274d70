/** What ends a process that does not ask otherwise. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Clears up before a signal ends the process, which it then does as ever.
 * @returns ends that
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
