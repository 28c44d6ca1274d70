import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { makeFolder } from '../../files/make-folder.ts'

const FILE = 'purges.json'
/** Longer than a notice of a purge is kept. */
const KEPT_MS = 180 * 86_400_000

/** When each purge was done, by the id of its notice. */
const fileSchema = z.record(z.string(), z.number())

/** Which purges a data folder has carried out, also before the process started. */
export interface DonePurges {
  has(id: string): boolean
  /** Notes a purge. @throws the file system's error */
  add(id: string, now: number): void
}

/** A file that cannot be read counts as empty: a purge that is made again does no harm. */
export function openDonePurges(dataDir: string): DonePurges {
  const file = join(dataDir, FILE)
  let done = read(file)
  return {
    has: id => Object.hasOwn(done, id),
    add(id, now) {
      const kept = Object.entries(done).filter(([, atMs]) => now - atMs < KEPT_MS)
      done = Object.fromEntries([...kept, [id, now]])
      makeFolder(dirname(file))
      writeFileSync(`${file}.next`, JSON.stringify(done), { mode: 0o600, flush: true })
      renameSync(`${file}.next`, file)
    },
  }
}

function read(file: string): Readonly<Record<string, number>> {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return {}
  }
}
