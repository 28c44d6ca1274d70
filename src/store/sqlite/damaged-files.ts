import { copyFileSync, existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** How long a damaged file is kept for the operator, in milliseconds. */
const KEPT_MS = 7 * 24 * 60 * 60_000

/** What SQLite keeps beside the main file. */
const COMPANIONS = ['', '-wal', '-shm'] as const
/** Suffix of a file that exists beside a damaged file until everything was carried over from it. */
const UNSALVAGED = '-unsalvaged'

/** Renames the file and its companions, deletes nothing. Returns the new name of the main file. */
export function moveAside(path: string, now: number): string {
  const target = freeName(path, now)
  // First, so that a process that dies in between leaves the work to the next.
  writeFileSync(target + UNSALVAGED, '', { mode: 0o600 })
  // The main file is moved last, because companions that stay alone would be read as those of a new
  // store.
  for (const suffix of COMPANIONS.toReversed()) {
    if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix)
  }
  return target
}

/** Keeps a log that ends early: the next writer overwrites what follows. */
export function keepLog(path: string, now: number): void {
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${freeName(path, now)}-wal`)
}

/** The newest damaged file of which not all was carried over. */
export function unsalvaged(path: string): string | undefined {
  const target = damagedNames(path)
    .filter(name => name.endsWith(UNSALVAGED))
    .sort(byTime)
    .at(-1)
  return target === undefined ? undefined : join(dirname(path), withoutSuffix(target))
}

/** Notes that everything readable was carried over from the file that `moveAside` named. */
export function markSalvaged(target: string): void {
  rmSync(target + UNSALVAGED, { force: true })
}

/**
 * Removes files that `moveAside` left of this file. The newest one and those that are not carried
 * over yet stay, until they are old, because they have data of tenants. @throws Error if the folder
 * cannot be changed
 */
export function removeOldDamaged(path: string, now: number): void {
  const names = damagedNames(path)
  const newest = names.map(withoutSuffix).sort(byTime).at(-1)
  for (const name of names) {
    const target = withoutSuffix(name)
    const keep = target === newest || names.includes(target + UNSALVAGED)
    if (!keep || now - timeOf(name) >= KEPT_MS) rmSync(join(dirname(path), name), { force: true })
  }
}

function freeName(path: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-')
  const target = `${path}.damaged-${stamp}`
  const isTaken = (name: string) =>
    [...COMPANIONS, UNSALVAGED].some(suffix => existsSync(name + suffix))
  if (!isTaken(target)) return target
  for (let i = 1; ; i++) if (!isTaken(`${target}-${i}`)) return `${target}-${i}`
}

function damagedNames(path: string): string[] {
  const prefix = `${basename(path)}.damaged-`
  return readdirSync(dirname(path)).filter(name => name.startsWith(prefix) && timeOf(name) > 0)
}

function withoutSuffix(name: string): string {
  return name.replace(/-(wal|shm|unsalvaged)$/, '')
}

function byTime(a: string, b: string): number {
  return timeOf(a) - timeOf(b) || a.length - b.length || (a < b ? -1 : 1)
}

/** When it was moved aside, by its name, in milliseconds since 1970; 0 if the name has no time. */
function timeOf(name: string): number {
  const found = /\.damaged-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/.exec(name)
  if (found === null) return 0
  const [, day, hours, minutes, seconds, ms] = found
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}.${ms}Z`)
}
