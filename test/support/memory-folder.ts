import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
// Packs the vocabularies once, before the processes of a run read them.
import './vocabularies.ts'

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm'
/** Many times what the tests of a run have at once. Containers often have 64 MiB. */
const NEEDED_BYTES = 2 * 1024 ** 3
/** What the folders of this user begin with; the id of the process that made one follows. */
const PREFIX = `haversack-tests-${process.getuid?.() ?? 0}-`

/**
 * Puts the temporary files of a run into memory, if there is room. On a disk, `npm test` waits for
 * it at each `fsync` of a database. The other projects, and CI, use the disk.
 */
export function setup(): (() => void) | undefined {
  if (process.env['TMPDIR'] !== undefined) return undefined
  removeLost()
  if (roomBytes() < NEEDED_BYTES) return undefined
  const folder = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`))
  process.env['TMPDIR'] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

/** Removes the folders of runs that were interrupted. */
function removeLost(): void {
  if (!existsSync(MEMORY)) return
  for (const name of readdirSync(MEMORY)) {
    if (!name.startsWith(PREFIX)) continue
    const pid = Number.parseInt(name.slice(PREFIX.length), 10)
    if (!existsSync(`/proc/${pid}`)) rmSync(join(MEMORY, name), { recursive: true, force: true })
  }
}

function roomBytes(): number {
  if (!existsSync(MEMORY)) return 0
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize
}
