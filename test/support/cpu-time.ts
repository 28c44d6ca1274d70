import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Processor time of the file, its imports and its child processes included. */
    cpu_ms?: number
  }
}

/** Clock ticks a second in `/proc`: a constant of Linux' interface on every platform of Node. */
const TICK_MS = 10

/** Processor time of this process and of its children that have ended, in milliseconds. */
function cpuTime() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + endedChildrenTime()
}

/** From `/proc/self/stat`, fields 16 and 17. Returns 0 on a platform that has none. */
function endedChildrenTime() {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

const start = cpuTime()

// biome-ignore lint/correctness/noEmptyPattern: Vitest wants the first argument destructured.
afterAll(({}, suite) => {
  suite.meta.cpu_ms = cpuTime() - start
})
