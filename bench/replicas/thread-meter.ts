import { readFileSync } from 'node:fs'

/** Processor time of a server's main thread, from one of its answers to the next. */
export interface ThreadMeter {
  /** Called when an answer has come. */
  answered(): void
  /** The times since it was last asked, in microseconds, the longest last. */
  take(): readonly number[]
}

/**
 * Times by the server's own clock, as in `SLOWLOG`, include the moments in which a busy machine
 * does not run it. These do not, so they can be compared with those of another machine and day. A
 * time is that of every call that was under way in it, so it is an upper bound for each of them.
 * Needs Linux.
 */
export function meterThread({ pid }: { readonly pid: number }): ThreadMeter {
  const file = `/proc/${pid}/task/${pid}/schedstat`
  const now = () => Number(readFileSync(file, 'utf8').split(' ')[0]) / 1000
  let times: number[] = []
  let last = now()
  return {
    answered() {
      const us = now()
      times.push(us - last)
      last = us
    },
    take() {
      const taken = times.sort((a, b) => a - b)
      times = []
      last = now()
      return taken
    },
  }
}
