import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { DAY_MS, WINDOW_DAYS } from '../../core/fingerprints/fingerprint.ts'
import { loadSecret } from '../../runtime/secret-file.ts'
import type { TaskThread } from '../../runtime/task-thread.ts'
import type { RecordKey, Result, Store } from '../../store/store.ts'
import { fail, valueOr } from '../../store/values/failure.ts'
import type { BuildTasks } from './tasks.ts'

export interface TogetherOptions {
  readonly store: Records & Pick<Store, 'rates'>
  readonly dataDir: string
  /** The name of a tenant's folders. */
  folderOf(tenant: string): string
  /** The tenants that may have telemetry, asked each time. */
  tenants(): readonly string[]
  readonly intervalMs: number
  readonly thread: Pick<TaskThread<BuildTasks>, 'run'>
  /** Unix milliseconds. */
  readonly now: () => number
  onBuilt(built: { readonly tenant: string; readonly replicas: number }): void
}

const NAMESPACE = 'fingerprints.v2'
/** What a replica reported counts for so long. */
const KEPT_MS = (WINDOW_DAYS + 1) * DAY_MS
/** By then every process knows how many there are. */
const START_MS = 5_000
/** After so many intervals a build no longer waits for replicas that do not report. */
const PATIENCE = 3
const NAME_BYTES = 8
const MAX_TRIES = 20

/** When each data folder reported, and when fingerprints were built, by the writers' clocks. */
const indexSchema = z.object({ reported: z.record(z.string(), z.number()), builtMs: z.number() })
type Index = z.output<typeof indexSchema>

/**
 * Builds fingerprints of the telemetry of all replicas. Each reports to the store what its data
 * folder has, by endpoint and day. One of them adds that up, with each session counted once, and
 * all take the files that it made. Nothing of a session but its hash leaves a data folder.
 */
export function createTogether(options: TogetherOptions) {
  const { store, dataDir, intervalMs, thread, now } = options
  const name = Buffer.from(loadSecret(join(dataDir, 'replica.id'), NAME_BYTES)).toString('hex')
  const startedMs = now()
  /** When this process last reported of each tenant, and which version of the files it took. */
  const reported = new Map<string, number>()
  const taken = new Map<string, number>()
  /** Since when the store is known to have no files of a tenant. */
  const lostMs = new Map<string, number>()
  const index = createReportIndex(store, now)
  const builtOf = (tenant: string) => ({ tenant, namespace: NAMESPACE, key: 'built' })
  const reportOf = (tenant: string, by: string) => ({
    tenant,
    namespace: NAMESPACE,
    key: `of ${by}`,
  })

  /** Does for each tenant what is due. @throws AppError for a failure of the store or a thread */
  async function turn(): Promise<void> {
    for (const tenant of options.tenants()) {
      const reportedMs = reported.get(tenant) ?? 0
      const isLost = reportedMs < (lostMs.get(tenant) ?? 0)
      if (isLost || now() - reportedMs >= intervalMs) await report(tenant)
      await buildIfDue(tenant)
      await take(tenant)
    }
  }

  async function report(tenant: string): Promise<void> {
    const task = { dataDir, tenant: options.folderOf(tenant), now: now() }
    const value = await thread.run(tenant, 'report', task)
    const place = reportOf(tenant, name)
    valueOr(await writeLarge(store, place, { value, ttlMs: KEPT_MS }))
    await index.change(tenant, ({ reported: all, builtMs }) => ({
      reported: { ...all, [name]: task.now },
      builtMs,
    }))
    reported.set(tenant, task.now)
  }

  async function buildIfDue(tenant: string): Promise<void> {
    const { reported: all, builtMs } = (await index.read(tenant)).index
    const at = now()
    const built = await readLarge(store, builtOf(tenant))
    if (!built.ok && built.reason !== 'not_found') valueOr(built)
    // A store that has forgotten what was published must hear it from everyone.
    if (built.ok) lostMs.delete(tenant)
    else if (!lostMs.has(tenant)) lostMs.set(tenant, at)
    const sinceMs = Math.max(startedMs, lostMs.get(tenant) ?? 0)
    if (at - sinceMs < START_MS || at - builtMs < intervalMs) return
    const values: Uint8Array[] = []
    let fresh = 0
    for (const [by, atMs] of Object.entries(all)) {
      const found = await readLarge(store, reportOf(tenant, by))
      if (!found.ok && found.reason !== 'not_found') valueOr(found)
      if (!found.ok || found.value === null) continue
      values.push(found.value)
      if (at - atMs < 2 * intervalMs && atMs >= (lostMs.get(tenant) ?? 0)) fresh++
    }
    const isComplete = fresh >= (store.rates?.replicas ?? 1)
    if (!isComplete && at - Math.max(builtMs, sinceMs) < PATIENCE * intervalMs) return
    const before = built.ok ? built.value : null
    const task = { dataDir, tenant: options.folderOf(tenant), reported: values, before, now: at }
    const value = await thread.run(tenant, 'build', task)
    const ifVersion = built.ok ? built.version : 0
    const written = await writeLarge(store, builtOf(tenant), { value, ttlMs: KEPT_MS, ifVersion })
    // Another one was faster.
    if (!written.ok && written.reason === 'conflict') return
    valueOr(written)
    await index.change(tenant, before => ({ ...before, builtMs: at }))
    options.onBuilt({ tenant, replicas: values.length })
  }

  /** Puts the files that were built into this data folder. */
  async function take(tenant: string): Promise<void> {
    const head = await store.readRecord(builtOf(tenant))
    if (!head.ok || head.version === taken.get(tenant)) return
    const found = valueOr(await readLarge(store, builtOf(tenant)))
    if (found.value === null) return
    const part = { dataDir, tenant: options.folderOf(tenant) }
    await thread.run(tenant, 'take', { ...part, built: found.value })
    taken.set(tenant, found.version)
  }

  return { turn }
}

/** The index of a tenant in the store, changed by one process at a time. */
function createReportIndex(store: Records, now: () => number) {
  const placeOf = (tenant: string) => ({ tenant, namespace: NAMESPACE, key: 'index' })

  async function read(tenant: string): Promise<{ index: Index; ifVersion: number }> {
    const found = await store.readRecord(placeOf(tenant))
    if (!found.ok && found.reason !== 'not_found' && found.reason !== 'gone') valueOr(found)
    const index = found.ok ? parse(found.value) : NO_INDEX
    const kept = Object.entries(index.reported).filter(([, atMs]) => now() - atMs < KEPT_MS)
    const reported = Object.fromEntries(kept)
    return { index: { ...index, reported }, ifVersion: found.ok ? found.version : 0 }
  }

  async function change(tenant: string, next: (index: Index) => Index): Promise<void> {
    for (let left = MAX_TRIES; ; left--) {
      const { index, ifVersion } = await read(tenant)
      const value = Buffer.from(JSON.stringify(next(index)))
      const written = await store.writeRecord({
        ...placeOf(tenant),
        value,
        ttlMs: KEPT_MS,
        ifVersion,
      })
      if (written.ok) return
      if (written.reason !== 'conflict' || left === 0) valueOr(written)
    }
  }

  return { read, change }
}

const NO_INDEX: Index = { reported: {}, builtMs: 0 }

function parse(value: Uint8Array): Index {
  try {
    return indexSchema.parse(JSON.parse(Buffer.from(value).toString()))
  } catch {
    return NO_INDEX
  }
}

/** Nothing larger is written at once, because it would hold up what the store does meanwhile. */
const PART_BYTES = 256 * 1024
/** Parts of one value. */
const MAX_PARTS = 256
/** A value may be replaced while it is read. */
const MAX_READS = 5

const headSchema = z.object({ name: z.string(), parts: z.int().min(0).max(MAX_PARTS) })

type Records = Pick<Store, 'readRecord' | 'writeRecord' | 'deleteRecord'>

/** Writes a value that is too large for one record: parts, then the record that names them. */
async function writeLarge(
  store: Records,
  key: RecordKey,
  { value, ttlMs, ifVersion: expected }: LargeWrite,
): Promise<Result<object>> {
  const before = await headOf(store, key)
  const name = randomBytes(6).toString('hex')
  const head = { name, parts: Math.ceil(value.byteLength / PART_BYTES) }
  if (head.parts > MAX_PARTS) return fail('too_large', `it has more than ${MAX_PARTS} parts`)
  let written: Result<object> = { ok: true }
  for (let i = 0; i < head.parts && written.ok; i++) {
    const part = value.subarray(i * PART_BYTES, (i + 1) * PART_BYTES)
    written = await store.writeRecord({ ...partKey(key, name, i), value: part, ttlMs })
  }
  if (written.ok) {
    const ifVersion = expected === undefined ? {} : { ifVersion: expected }
    const named = Buffer.from(JSON.stringify(head))
    written = await store.writeRecord({ ...key, value: named, ttlMs, ...ifVersion })
  }
  const unused = written.ok ? before.ok && before.head : head
  if (unused) {
    for (let i = 0; i < unused.parts; i++) await store.deleteRecord(partKey(key, unused.name, i))
  }
  return written
}

interface LargeWrite {
  readonly value: Uint8Array
  readonly ttlMs: number
  /** What `readLarge` gave, 0 if it found none; any if absent. */
  readonly ifVersion?: number
}

/** The value and its version; the value is `null` if it is damaged or of a later version. */
async function readLarge(
  store: Records,
  key: RecordKey,
): Promise<Result<{ readonly value: Uint8Array | null; readonly version: number }>> {
  for (let left = MAX_READS; ; left--) {
    const found = await headOf(store, key)
    if (!found.ok) return found
    const { head, version } = found
    if (head === null) return { ok: true, value: null, version }
    const parts: Uint8Array[] = []
    for (let i = 0; i < head.parts; i++) {
      const part = await store.readRecord(partKey(key, head.name, i))
      if (!part.ok && part.reason !== 'not_found' && part.reason !== 'gone') return part
      if (part.ok) parts.push(part.value)
    }
    if (parts.length === head.parts) return { ok: true, value: Buffer.concat(parts), version }
    if (left === 0) return { ok: true, value: null, version }
  }
}

async function headOf(store: Records, key: RecordKey) {
  const found = await store.readRecord(key)
  if (!found.ok) return found
  try {
    const head = headSchema.parse(JSON.parse(Buffer.from(found.value).toString()))
    return { ok: true, head, version: found.version } as const
  } catch {
    return { ok: true, head: null, version: found.version } as const
  }
}

function partKey(key: RecordKey, name: string, index: number): RecordKey {
  return { ...key, key: `${key.key} ${name} ${index}` }
}
