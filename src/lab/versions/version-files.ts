import { hash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replacePrivateFile } from '../../files/replace-file.ts'
import { readTuned, TunedFault, type TunedFile } from './tuned-file.ts'
import { type TunedVersion, versionRecord } from './version-record.ts'

/** Versions that are kept of a tenant. */
export const KEPT_VERSIONS = 50
const RECORD = /^(\d{8})-([0-9a-f]{12})\.json$/

/** The tuned file and the records of its versions. */
export interface VersionFiles {
  readonly file: string
  /** Holds `<version>.json`. */
  readonly records: string
}

/** What is in force. */
export interface InForce {
  readonly now: TunedFile | null
  /** Those that led to it, the newest first. */
  readonly versions: readonly TunedVersion[]
}

/** @throws TunedFault if the file is torn, was changed by hand, or is another tenant's */
export function readInForce({ file, records }: VersionFiles): InForce {
  const text = textOf(file)
  if (text === null) return { now: null, versions: [] }
  const now = readTuned(text)
  const all = recordsIn(records)
  const own = all.find(({ id }) => id === now.id)
  if (own === undefined) throw new TunedFault('no version of this tenant wrote it')
  if (own.digest !== digestOf(text)) {
    throw new TunedFault(
      'it was changed by hand: put keys of your own into pipeline_config.toml, ' +
        'and undo the change or delete the file',
    )
  }
  // One above it is of a process that ended before it wrote the file.
  const earlier = all.filter(({ number }) => number <= own.number)
  const first = earlier.findIndex(({ onto }) => onto === null)
  return { now, versions: first === -1 ? earlier : earlier.slice(0, first + 1) }
}

/**
 * The number of the next version. A version that is not in force, since its process ended before
 * the file was written, gives its number to the next one.
 */
export function nextNumber({ records }: VersionFiles, { versions }: InForce): number {
  const last =
    versions[0]?.number ??
    namesIn(records)
      .map(numberOf)
      .reduce((a, b) => Math.max(a, b), 0)
  return last + 1
}

/**
 * Writes the version first, and then the file that names it. If the process ends in between, the
 * version is not in force.
 */
export function writeVersion(
  { file, records }: VersionFiles,
  version: Omit<TunedVersion, 'digest'>,
  text: string,
): TunedVersion {
  const { id, number } = version
  const whole = { ...version, digest: digestOf(text) }
  for (const name of namesIn(records)) {
    const other = numberOf(name)
    if (other >= number || other <= number - KEPT_VERSIONS) rmSync(join(records, name))
  }
  const name = `${String(number).padStart(8, '0')}-${id}.json`
  replacePrivateFile(join(records, name), `${JSON.stringify(whole)}\n`, true)
  replacePrivateFile(file, text, true)
  return whole
}

/** The records that can be read, the newest first. */
function recordsIn(folder: string): readonly TunedVersion[] {
  const names = namesIn(folder).toSorted((a, b) => numberOf(b) - numberOf(a))
  return names.flatMap(name => {
    const read = versionRecord.safeParse(jsonOf(join(folder, name)))
    return read.success ? [read.data] : []
  })
}

function numberOf(name: string): number {
  return Number(RECORD.exec(name)?.[1])
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter(name => RECORD.test(name))
  } catch {
    // No version was written yet.
    return []
  }
}

function digestOf(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Returns `null` if there is no such file. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new TunedFault('it cannot be read', { cause: error })
  }
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
