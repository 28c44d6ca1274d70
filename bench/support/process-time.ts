import { readFileSync } from 'node:fs'

/** A tick of the processor times in `/proc`, in microseconds. */
const TICK_US = 10_000

/** Processor time of processes so far, in microseconds. */
export function cpuUsOf(processes: readonly { readonly pid: number }[]): number {
  return processes.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')
    return sum + (Number(fields[13]) + Number(fields[14])) * TICK_US
  }, 0)
}
