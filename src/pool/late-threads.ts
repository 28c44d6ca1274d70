import { type StartThreads, startThreads, type ThreadOptions, type Threads } from './threads.ts'

const NO_THREADS: ReadonlySet<number> = new Set()

/**
 * Threads of which even the first is started when there is a batch for it. A command that serves
 * one agent starts sooner by that, and takes less memory until then. Its first batch waits for a
 * thread, and a thread that cannot start is found out only then.
 * @param create starts the threads; a test may have its own
 */
export function createLateThreads(
  options: ThreadOptions,
  create: StartThreads = startThreads,
): Threads {
  let threads: Threads | undefined
  let isClosed = false
  return {
    size: options.size,
    free: () => threads?.free?.() ?? NO_THREADS,
    async run(message, signal, near) {
      if (isClosed) throw new Error('the threads are closed')
      threads ??= create(options)
      return threads.run(message, signal, near)
    },
    async close() {
      isClosed = true
      await threads?.close()
    },
  }
}
