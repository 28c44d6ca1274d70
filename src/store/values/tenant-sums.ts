import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Failure, RecordKey, Store } from '../store.ts'

/** Sums of tenants, one record each, to which several processes may add. */
export interface TenantSums<Sums> {
  /** Adds to a tenant's sums; they are written within some seconds. */
  add(tenant: string, more: Sums): void
  /**
   * All sums of a tenant; `null` if there are none. Those of other processes are included up to
   * their last write.
   */
  read(tenant: string): Promise<{ readonly sums: Sums | null } | Failure>
  /** Writes what is not written yet. */
  close(): Promise<void>
}

/** Sums that carry a mark of their last change. */
interface Stamped {
  /** Identifies the last change, so that its writer can recognise it. */
  readonly stamp: string
}

export interface TenantSumsOptions<Sums extends Stamped> {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** The format is in the key, so that a record of another version is never read as this one's. */
  readonly record: Omit<RecordKey, 'tenant'>
  /** Returns `null` if the bytes are no such sums. */
  read(bytes: Uint8Array): Sums | null
  write(sums: Sums): Uint8Array
  /** The sum of both, with the stamp of the first. */
  add(a: Sums, b: Sums): Sums
  /** Called if sums cannot be written, once until they can again. */
  readonly onUnsaved: (detail: string) => void
  readonly onBug: (error: unknown) => void
  /** Between two writes of a tenant's record, in milliseconds. */
  readonly flushMs?: number
}

const FLUSH_MS = 5_000
/**
 * How often a write is tried that another process came before, and how long to wait before the next
 * time.
 */
const MAX_ATTEMPTS = 8
const RETRY_MS = 20

/** What this process has to add to a tenant's record. */
interface Unsaved<Sums> {
  pending: Sums | null
  /**
   * The sums that are being written. If the store does not report the result, the stamp shows
   * whether they were written.
   */
  leaving: Sums | null
  /** Reads and writes of the record, one after the other. */
  turn: Promise<unknown>
}

export function createTenantSums<Sums extends Stamped>(
  options: TenantSumsOptions<Sums>,
): TenantSums<Sums> {
  const { add, onUnsaved } = options
  const record = createSumRecord(options)
  const process = randomUUID()
  const tenants = new Map<string, Unsaved<Sums>>()
  let changes = 0
  let isUnsaved = false

  function unsavedOf(tenant: string): Unsaved<Sums> {
    const known = tenants.get(tenant)
    if (known !== undefined) return known
    const unsaved: Unsaved<Sums> = { pending: null, leaving: null, turn: Promise.resolve() }
    tenants.set(tenant, unsaved)
    return unsaved
  }

  function inTurn<T>(unsaved: Unsaved<Sums>, what: () => Promise<T>): Promise<T> {
    const done = unsaved.turn.then(what)
    // The caller receives the failure.
    unsaved.turn = done.catch(() => undefined)
    return done
  }

  async function flush(tenant: string, unsaved: Unsaved<Sums>): Promise<void> {
    if (unsaved.leaving === null) {
      if (unsaved.pending === null) return
      changes += 1
      unsaved.leaving = { ...unsaved.pending, stamp: `${process} ${changes}` }
      unsaved.pending = null
    }
    const failure = await record.add(tenant, unsaved.leaving)
    if (failure === null) unsaved.leaving = null
    else if (!isUnsaved) onUnsaved(failure.detail)
    isUnsaved = failure !== null
  }

  async function flushAll(): Promise<void> {
    for (const [tenant, unsaved] of tenants) await inTurn(unsaved, () => flush(tenant, unsaved))
  }

  const timer = setInterval(() => void flushAll().catch(options.onBug), options.flushMs ?? FLUSH_MS)
  timer.unref()

  return {
    add(tenant, more) {
      const unsaved = unsavedOf(tenant)
      unsaved.pending = unsaved.pending === null ? more : add(unsaved.pending, more)
    },
    read(tenant) {
      const unsaved = unsavedOf(tenant)
      return inTurn(unsaved, async () => {
        const stored = await record.load(tenant)
        if ('ok' in stored) return stored
        const { pending, leaving } = unsaved
        const isIn = leaving === null || leaving.stamp === stored.sums?.stamp
        const all = [stored.sums, isIn ? null : leaving, pending].filter(each => each !== null)
        const [first, ...rest] = all
        return { sums: first === undefined ? null : rest.reduce(add, first) }
      })
    },
    async close() {
      clearInterval(timer)
      await flushAll()
    },
  }
}

type Stored<Sums> = { readonly sums: Sums | null; readonly version: number | undefined }

/** A tenant's record as the store has it. */
interface SumRecord<Sums> {
  /** The sums, `null` if there are none yet; or why they cannot be read. */
  load(tenant: string): Promise<Stored<Sums> | Failure>
  /** Adds what leaves to the record, even if another process writes it. Returns why it failed. */
  add(tenant: string, leaving: Sums): Promise<Failure | null>
}

function createSumRecord<Sums extends Stamped>({
  store,
  record,
  read,
  write,
  add: sumOf,
}: TenantSumsOptions<Sums>): SumRecord<Sums> {
  async function load(tenant: string): Promise<Stored<Sums> | Failure> {
    const result = await store.readRecord({ tenant, ...record })
    if (result.ok) {
      const sums = read(result.value)
      if (sums !== null) return { sums, version: result.version }
      const detail = `the record of ${record.namespace} cannot be understood`
      return { ok: false, reason: 'failed', detail }
    }
    if (result.reason === 'not_found') return { sums: null, version: 0 }
    // The record is lost, so it may be written again.
    if (result.reason === 'gone') return { sums: null, version: undefined }
    return result
  }

  async function add(tenant: string, leaving: Sums): Promise<Failure | null> {
    let failure: Failure | null = null
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (attempt > 0) await sleep(RETRY_MS * attempt)
      const stored = await load(tenant)
      if ('ok' in stored) return stored
      const { sums, version } = stored
      if (sums?.stamp === leaving.stamp) return null
      const sum = sums === null ? leaving : sumOf(leaving, sums)
      const written = await store.writeRecord({
        tenant,
        ...record,
        value: write(sum),
        ...(version === undefined ? {} : { ifVersion: version }),
      })
      if (written.ok) return null
      failure = written
      if (failure.reason !== 'conflict' && failure.reason !== 'lost') break
    }
    return failure
  }

  return { load, add }
}
