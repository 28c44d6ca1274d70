import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, totalmem } from 'node:os'

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

/** The middle of some numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** Resident memory of a process in MiB, from Linux' own account of it. */
export function residentMib(pid: number): number {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return (pages * 4096) / 2 ** 20
}
