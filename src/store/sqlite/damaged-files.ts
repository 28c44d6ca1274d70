import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** How long a damaged file is kept for whoever wants to look into it, in milliseconds. */
const KEPT_MS = 7 * 24 * 60 * 60_000

/** What SQLite keeps beside the main file. */
const COMPANIONS = ['', '-wal', '-shm'] as const

/** Renames the file and its companions; nothing is deleted. Gives the new name of the main file. */
export function moveAside(path: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-')
  let target = `${path}.damaged-${stamp}`
  for (let i = 1; existsSync(target); i++) target = `${path}.damaged-${stamp}-${i}`
  for (const suffix of COMPANIONS) {
    if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix)
  }
  return target
}

/**
 * Removes what `moveAside` left of this file, but for the newest, and that too when it has grown old: it
 * holds what tenants kept. @throws Error where the folder cannot be changed
 */
export function removeOldDamaged(path: string, now: number): void {
  const folder = dirname(path)
  const prefix = `${basename(path)}.damaged-`
  const names = readdirSync(folder).filter(name => name.startsWith(prefix) && timeOf(name) > 0)
  const newest = names
    .map(name => name.replace(/-(wal|shm)$/, ''))
    .sort((a, b) => timeOf(a) - timeOf(b) || a.length - b.length || (a < b ? -1 : 1))
    .at(-1)
  for (const name of names) {
    const keep = newest !== undefined && COMPANIONS.some(suffix => name === newest + suffix)
    if (!keep || now - timeOf(name) >= KEPT_MS) rmSync(join(folder, name), { force: true })
  }
}

/** When it was moved aside, by its name, in milliseconds since 1970; 0 where that does not say. */
function timeOf(name: string): number {
  const found = /\.damaged-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/.exec(name)
  if (found === null) return 0
  const [, day, hours, minutes, seconds, ms] = found
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`)
}
