import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { TENANT_NAME } from '../../core/base/tenant-name.ts'
import { type KeyPath, type Tree, valueAt, writeKey } from '../../core/pipeline/profile/key-path.ts'
import { FolderBusy, lockFolder } from '../../runtime/folder-lock.ts'
import { type ConfigValue, readKey, withValue } from './key-path.ts'
import {
  TunedBusy,
  TunedFault,
  type TunedFile,
  type TunedReason,
  writeTuned,
} from './tuned-file.ts'
import { type InForce, nextNumber, readInForce, writeVersion } from './version-files.ts'
import type { TunedVersion, VersionChange } from './version-record.ts'

/** A key that gets another value, or none (`null`), and why. */
export interface TunedChange {
  readonly key: KeyPath
  readonly to: ConfigValue | null
  readonly rule: string
  readonly evidence: string
}

export interface ChangeTerms {
  /** Digest of what the changes were decided by. */
  readonly inputs: string
  /** The generation of the configuration that they were measured with. */
  readonly generation: string
  readonly effect?: { readonly before: number; readonly after: number }
  readonly now: Date
  /**
   * The version that the changes were decided on, `null` for none; another one in force is a fault.
   * Absent: whatever is in force.
   */
  readonly onto?: string | null
}

type RevertTerms = Omit<ChangeTerms, 'effect' | 'onto'>

/** A change takes some milliseconds. */
const WAIT_MS = 5_000

/**
 * The tuned file of one tenant and its versions. Every method reads the files, and throws a
 * `TunedFault` if they are not as they should be.
 * @param waitMs how long a change waits for another one, without a turn of the event loop
 * @throws TunedFault if the tenant's name is none
 */
export function openTuned(dataDir: string, tenant: string, waitMs = WAIT_MS) {
  if (!TENANT_NAME.test(tenant)) throw new TunedFault(`${JSON.stringify(tenant)} is no tenant`)
  const folder = join(dataDir, 'tuned')
  const file = join(folder, `${tenant}.toml`)
  const files = { file, records: join(folder, 'versions', tenant) }
  const read = () => faultsOf(file, () => readInForce(files))

  /** No other process changes a tuned file meanwhile. */
  function locked<T>(work: (before: InForce) => T): T {
    return faultsOf(file, () => {
      const lock = take(folder, waitMs)
      try {
        return work(readInForce(files))
      } finally {
        lock.close()
      }
    })
  }

  function write(
    before: InForce,
    changes: readonly VersionChange[],
    more: Pick<TunedVersion, 'action' | 'reverts' | 'effect'>,
    { inputs, generation, now }: RevertTerms,
  ): TunedVersion {
    const id = randomBytes(6).toString('hex')
    const createdAt = now.toISOString()
    const text = writeTuned({
      ...withChanges(before.now, changes),
      id,
      tenant,
      createdAt,
      generation,
    })
    const number = nextNumber(files, before)
    const onto = before.now?.id ?? null
    const head = { id, number, created_at: createdAt, onto, generation, inputs }
    return writeVersion(files, { ...head, ...more, changes: [...changes] }, text)
  }

  return {
    file,
    /** What is in force; `now` is `null` if nothing is. */
    inForce: read,
    /** Returns `null` if no change changes anything. */
    apply: (changes: readonly TunedChange[], terms: ChangeTerms): TunedVersion | null =>
      locked(before => {
        const { onto, effect } = terms
        if (onto !== undefined && onto !== (before.now?.id ?? null)) {
          throw new TunedFault('it was changed since the proposals were made')
        }
        const made = changesOf(before.now, changes, terms.now)
        const more = { action: 'apply', ...(effect && { effect }) } as const
        return made.length === 0 ? null : write(before, made, more, terms)
      }),
    /**
     * Gives the keys of a version the values that they had before it, except for keys that later
     * versions changed (`kept`).
     * @param id if absent the newest that is neither reverted nor a revert
     */
    revert: (id: string | undefined, terms: RevertTerms) =>
      locked(before => {
        const version = wanted(before.versions, id)
        const { undone, kept } = undo(before.now, version)
        const more = { action: 'revert', reverts: version.id } as const
        return { version: undone.length === 0 ? null : write(before, undone, more, terms), kept }
      }),
  }
}

function take(folder: string, waitMs: number) {
  try {
    return lockFolder(folder, 'tuned.lock', waitMs)
  } catch (error) {
    if (!(error instanceof FolderBusy)) throw error
    throw new TunedBusy('another change is under way', { cause: error })
  }
}

function changesOf(
  now: TunedFile | null,
  changes: readonly TunedChange[],
  at: Date,
): readonly VersionChange[] {
  const date = at.toISOString().slice(0, 10)
  return changes.flatMap(({ key, to, rule, evidence }) => {
    const from = ownValue(now, key)
    return isSame(from, to) ? [] : [{ key: writeKey(key), rule, evidence, date, from, to }]
  })
}

/** @throws TunedFault if there is none */
function wanted(versions: readonly TunedVersion[], id: string | undefined): TunedVersion {
  const undone = new Set(versions.map(({ reverts }) => reverts))
  const version =
    id === undefined
      ? versions.find(each => each.action === 'apply' && !undone.has(each.id))
      : versions.find(each => each.id === id)
  if (version !== undefined) return version
  throw new TunedFault(id === undefined ? 'there is no version to revert' : `no version ${id}`)
}

/** The changes that take a version back, and the keys that were changed since. */
function undo(now: TunedFile | null, { changes }: TunedVersion) {
  const undone: VersionChange[] = []
  const kept: KeyPath[] = []
  for (const change of changes) {
    const key = pathOf(change)
    if (isSame(ownValue(now, key), change.to)) {
      undone.push({ ...change, from: change.to, to: change.from })
    } else kept.push(key)
  }
  return { undone, kept }
}

/** The file with the changes. The reason of a key that is gone goes with it. */
function withChanges(
  now: TunedFile | null,
  changes: readonly VersionChange[],
): Pick<TunedFile, 'config' | 'reasons'> {
  let config: Tree = now?.config ?? {}
  const reasons = new Map<string, TunedReason>()
  for (const reason of now?.reasons ?? []) reasons.set(writeKey(reason.key), reason)
  for (const change of changes) {
    const { to, rule, evidence, date } = change
    const key = pathOf(change)
    config = withValue(config, key, to)
    if (to === null) reasons.delete(change.key)
    else reasons.set(change.key, { key, rule, evidence, date })
  }
  return { config, reasons: [...reasons.values()] }
}

/** @throws TunedFault if the record is damaged */
function pathOf({ key }: VersionChange): KeyPath {
  const path = readKey(key)
  if (path === null) throw new TunedFault('the record of a version is damaged')
  return path
}

/** The file's own value of a key; `null` if it has none. */
function ownValue(now: TunedFile | null, key: KeyPath): ConfigValue | null {
  const value = valueAt(now?.config ?? {}, key)
  return value === undefined ? null : (value as ConfigValue)
}

function isSame(a: ConfigValue | null, b: ConfigValue | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Runs `work`, whose faults are about the file. */
function faultsOf<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TunedFault)) throw error
    const Kind = error instanceof TunedBusy ? TunedBusy : TunedFault
    throw new Kind(`${file}: ${error.message}`, { cause: error })
  }
}
