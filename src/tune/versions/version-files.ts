import { hash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../files/make-folder.ts'
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
  const versions = chainTo(now.id, recordsIn(records))
  const [own] = versions
  if (own === undefined) throw new TunedFault('no version of this tenant wrote it')
  if (own.digest !== digestOf(text)) {
    throw new TunedFault(
      'it was changed by hand: put keys of your own into pipeline_config.toml, ' +
        'and undo the change or delete the file',
    )
  }
  return { now, versions }
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
  replaceFile(join(records, name), `${JSON.stringify(whole)}\n`)
  replaceFile(file, text)
  return whole
}

/** The version of an id and those before it, as far as they are kept. */
function chainTo(id: string, records: ReadonlyMap<string, TunedVersion>): TunedVersion[] {
  const chain: TunedVersion[] = []
  let next: string | null = id
  while (next !== null && chain.length < KEPT_VERSIONS) {
    const version = records.get(next)
    if (version === undefined) break
    chain.push(version)
    next = version.onto
  }
  return chain
}

function recordsIn(folder: string): ReadonlyMap<string, TunedVersion> {
  const found = new Map<string, TunedVersion>()
  for (const name of namesIn(folder)) {
    const read = versionRecord.safeParse(jsonOf(join(folder, name)))
    if (read.success) found.set(read.data.id, read.data)
  }
  return found
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

/** Replaces a file as a whole, durably, for its owner alone. */
function replaceFile(file: string, text: string): void {
  makeFolder(dirname(file))
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flush: true })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
