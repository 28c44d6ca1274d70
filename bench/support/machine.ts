import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import type { Server } from './processes.ts'
import type { Measured } from './session-server.ts'

/** What the service measured since it was last asked. */
export async function measuredBy({ url }: Server): Promise<Measured> {
  const answer = await fetch(`${url}/measured`)
  return (await answer.json()) as Measured
}

/** What a figure was measured on; stands beside every table. */
export function machine(): Record<string, string | number> {
  return {
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    memory_gib: Math.round(totalmem() / 2 ** 30),
    date: new Date().toISOString().slice(0, 10),
  }
}

const load = () => loadavg()[0]!.toFixed(1)

/** @returns what says later how busy the machine was since now, and which one it is */
export function watchMachine(): () => string {
  const before = load()
  return () =>
    `load of the machine ${before} before and ${load()} after; ${JSON.stringify(machine())}`
}

/** Resident memory of a process in MiB, from Linux' own account of it. */
export function residentMib(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return (pages * 4096) / 2 ** 20
}

/** A tick of the processor times in `/proc`, in microseconds. */
const TICK_US = 10_000

/** Processor time of processes so far, in microseconds. */
export function cpuUsOf(processes: readonly { readonly pid: number }[]): number {
  return processes.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')
    return sum + (Number(fields[13]) + Number(fields[14])) * TICK_US
  }, 0)
}
