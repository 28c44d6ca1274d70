import { hash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { TENANT_NAME } from '../../core/base/tenant-name.ts'
import { type KeyPath, type Tree, valueAt, writeKey } from '../../core/pipeline/profile/key-path.ts'
import { replacePrivateFile } from '../../files/replace-file.ts'
import { FolderBusy, lockFolder } from '../../runtime/folder-lock.ts'
import { type ConfigValue, configValue, readKey, withValue } from './key-path.ts'
import { readTuned, TunedFault, type TunedFile, writeTuned } from './tuned-file.ts'

const change = z.object({
  /** As TOML writes it. */
  key: z.string(),
  rule: z.string(),
  evidence: z.string(),
  date: z.string(),
  /** `null`: the tuned file had no such key, or has none now. */
  from: configValue.nullable(),
  to: configValue.nullable(),
})

/** One change of a tuned file, as it is kept. */
const record = z.object({
  id: z.string(),
  /** Counts the versions of a tenant from 1. */
  number: z.int().positive(),
  action: z.enum(['apply', 'revert']),
  /** The version that was reverted. */
  reverts: z.string().optional(),
  created_at: z.string(),
  /** The version that was in force before; `null` if there was none. */
  onto: z.string().nullable(),
  generation: z.string(),
  /** Digest of what the changes were decided by. */
  inputs: z.string(),
  /** What a change does, in billed input tokens of the inputs; for a reader. */
  effect: z.object({ before: z.number(), after: z.number() }).optional(),
  changes: z.array(change),
  /** SHA-256 of the file, by which a change by hand is noticed. */
  digest: z.string(),
})

export type TunedVersion = z.output<typeof record>
type VersionChange = z.output<typeof change>

/** A key that gets another value, or none (`null`), and why. */
export interface TunedChange {
  readonly key: KeyPath
  readonly to: ConfigValue | null
  readonly rule: string
  readonly evidence: string
}

/** What is in force. */
interface InForce {
  readonly now: TunedFile | null
  /** Those that led to it, the newest first. */
  readonly versions: readonly TunedVersion[]
}

interface RevertTerms extends Pick<TunedVersion, 'inputs' | 'generation'> {
  readonly now: Date
}

interface ChangeTerms extends RevertTerms, Pick<TunedVersion, 'effect'> {
  /**
   * The version that the changes were decided on, `null` for none; another one in force is a fault.
   * Absent: whatever is in force.
   */
  readonly onto?: string | null
}

/** Another process changes the file now. */
export class TunedBusy extends TunedFault {}

/** Versions that are kept of a tenant. */
export const KEPT_VERSIONS = 50
const RECORD = /^\d{8}-[0-9a-f]{12}\.json$/
/** A change takes some milliseconds. */
const WAIT_MS = 5_000

/**
 * The tuned file of one tenant and its versions. Every method reads the files, and throws a
 * `TunedFault` if they are not as they should be.
 */
export class Tuned {
  readonly file: string
  readonly #tenant: string
  readonly #folder: string
  /** Holds a record for each version. */
  readonly #records: string
  readonly #waitMs: number

  /**
   * @param waitMs how long a change waits for another one, without a turn of the event loop
   * @throws TunedFault if the tenant's name is none
   */
  constructor(dataDir: string, tenant: string, waitMs = WAIT_MS) {
    if (!TENANT_NAME.test(tenant)) throw new TunedFault(`${JSON.stringify(tenant)} is no tenant`)
    this.#tenant = tenant
    this.#waitMs = waitMs
    this.#folder = join(dataDir, 'tuned')
    this.file = join(this.#folder, `${tenant}.toml`)
    this.#records = join(this.#folder, 'versions', tenant)
  }

  /** What is in force; `now` is `null` if nothing is. */
  inForce(): InForce {
    return this.#faultsOf(() => this.#read())
  }

  /** Returns `null` if no change changes anything. */
  apply(changes: readonly TunedChange[], terms: ChangeTerms): TunedVersion | null {
    return this.#locked(before => {
      const { onto, effect, now } = terms
      if (onto !== undefined && onto !== (before.now?.id ?? null)) {
        throw new TunedFault('it was changed since the proposals were made')
      }
      const date = now.toISOString().slice(0, 10)
      const made = changes.flatMap(({ key, to, rule, evidence }) => {
        const from = ownValue(before.now, key)
        return isSame(from, to) ? [] : [{ key: writeKey(key), rule, evidence, date, from, to }]
      })
      if (made.length === 0) return null
      return this.#write(before, { action: 'apply', ...(effect && { effect }) }, made, terms)
    })
  }

  /**
   * Gives the keys of a version the values that they had before it, except for keys that later
   * versions changed (`kept`).
   * @param id if absent the newest that is neither reverted nor a revert
   */
  revert(id: string | undefined, terms: RevertTerms) {
    return this.#locked(before => {
      const { id: reverts, changes } = wanted(before.versions, id)
      const undone: VersionChange[] = []
      const kept: KeyPath[] = []
      for (const each of changes) {
        const key = pathOf(each)
        if (!isSame(ownValue(before.now, key), each.to)) kept.push(key)
        else undone.push({ ...each, from: each.to, to: each.from })
      }
      const isEmpty = undone.length === 0
      const version = isEmpty
        ? null
        : this.#write(before, { action: 'revert', reverts }, undone, terms)
      return { version, kept }
    })
  }

  /** @throws TunedFault if the file is torn, was changed by hand, or is another tenant's */
  #read(): InForce {
    const text = textOf(this.file)
    if (text === null) return { now: null, versions: [] }
    const now = readTuned(text)
    const all = this.#names().flatMap(name => {
      const read = record.safeParse(jsonOf(join(this.#records, name)))
      return read.success ? [read.data] : []
    })
    const own = all.find(({ id }) => id === now.id)
    if (own === undefined) throw new TunedFault('no version of this tenant wrote it')
    if (own.digest !== hash('sha256', text, 'hex')) {
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

  /** No other process changes a tuned file meanwhile. */
  #locked<T>(work: (before: InForce) => T): T {
    return this.#faultsOf(() => {
      const lock = lockFolder(this.#folder, 'tuned.lock', this.#waitMs)
      try {
        return work(this.#read())
      } finally {
        lock.close()
      }
    })
  }

  /**
   * Writes the version first, and then the file that names it. If the process ends in between, the
   * version is not in force, and the next one gets its number.
   */
  #write(
    { now: before, versions }: InForce,
    more: Pick<TunedVersion, 'action' | 'reverts' | 'effect'>,
    changes: VersionChange[],
    { inputs, generation, now }: RevertTerms,
  ): TunedVersion {
    const id = randomBytes(6).toString('hex')
    const created_at = now.toISOString()
    const head = { id, tenant: this.#tenant, createdAt: created_at, generation }
    const text = writeTuned({ ...head, ...withChanges(before, changes) })
    const names = this.#names()
    const number = 1 + (versions[0]?.number ?? numberOf(names[0] ?? '0'))
    const onto = before?.id ?? null
    const digest = hash('sha256', text, 'hex')
    const version = { id, number, created_at, onto, generation, inputs, ...more, changes, digest }
    for (const name of names) {
      const other = numberOf(name)
      if (other >= number || other <= number - KEPT_VERSIONS) rmSync(join(this.#records, name))
    }
    const name = `${String(number).padStart(8, '0')}-${id}.json`
    replacePrivateFile(join(this.#records, name), `${JSON.stringify(version)}\n`, true)
    replacePrivateFile(this.file, text, true)
    return version
  }

  /** Files of versions, the newest first. */
  #names(): readonly string[] {
    try {
      const names = readdirSync(this.#records).filter(name => RECORD.test(name))
      return names.sort().reverse()
    } catch {
      // No version was written yet.
      return []
    }
  }

  /** Runs `work`, whose faults are about the file. */
  #faultsOf<T>(work: () => T): T {
    try {
      return work()
    } catch (cause) {
      if (cause instanceof FolderBusy) {
        throw new TunedBusy(`${this.file}: another change is under way`, { cause })
      }
      if (!(cause instanceof TunedFault)) throw cause
      throw new TunedFault(`${this.file}: ${cause.message}`, { cause })
    }
  }
}

/** @throws TunedFault if there is none */
function wanted(versions: readonly TunedVersion[], id: string | undefined): TunedVersion {
  const undone = new Set(versions.map(({ reverts }) => reverts))
  const version = versions.find(each =>
    id === undefined ? each.action === 'apply' && !undone.has(each.id) : each.id === id,
  )
  if (version !== undefined) return version
  throw new TunedFault(id === undefined ? 'there is no version to revert' : `no version ${id}`)
}

/** The file with the changes. The reason of a key that is gone goes with it. */
function withChanges(
  now: TunedFile | null,
  changes: readonly VersionChange[],
): Pick<TunedFile, 'config' | 'reasons'> {
  let config: Tree = now?.config ?? {}
  const reasons = new Map(now?.reasons.map(reason => [writeKey(reason.key), reason]))
  for (const { key: name, to, rule, evidence, date } of changes) {
    const key = pathOf({ key: name })
    config = withValue(config, key, to)
    if (to === null) reasons.delete(name)
    else reasons.set(name, { key, rule, evidence, date })
  }
  return { config, reasons: [...reasons.values()] }
}

/** @throws TunedFault if the record is damaged */
function pathOf({ key }: Pick<VersionChange, 'key'>): KeyPath {
  const path = readKey(key)
  if (path === null) throw new TunedFault('the record of a version is damaged')
  return path
}

/** The file's own value of a key; `null` if it has none. */
function ownValue(now: TunedFile | null, key: KeyPath): ConfigValue | null {
  return (valueAt(now?.config ?? {}, key) as ConfigValue | undefined) ?? null
}

function isSame(a: ConfigValue | null, b: ConfigValue | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function numberOf(name: string): number {
  return Number.parseInt(name, 10)
}

/** Returns `null` if there is no such file. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new TunedFault('it cannot be read', { cause })
  }
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
