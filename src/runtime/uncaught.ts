/** Watches for errors that nothing caught. */
export interface UncaughtWatch {
  /** How many there were. */
  readonly count: number
  /** Resolves at the first. */
  readonly first: Promise<void>
  /** Stops watching: from then on such an error ends the process. */
  close(): void
}

/**
 * Keeps the process from ending at an exception that nothing caught, or a rejected promise that
 * nothing handles, which Node raises as one. After that the state of the process may be incomplete,
 * so a service should end soon. @param onError gets each error; what it throws is dropped
 */
export function watchUncaught(onError: (error: unknown) => void): UncaughtWatch {
  const first = Promise.withResolvers<void>()
  let count = 0
  const listener = (error: unknown) => {
    count += 1
    first.resolve()
    try {
      onError(error)
    } catch {
      // A throw here would end the process at once.
    }
  }
  process.on('uncaughtException', listener)
  return {
    get count() {
      return count
    },
    first: first.promise,
    close: () => void process.off('uncaughtException', listener),
  }
}
