import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../core/base/errors.ts'
import { failureProblem } from '../store/failure.ts'
import type { Failure, Store } from '../store/store.ts'
import { type AnsweredRequest, entryOf } from './entry-of.ts'
import type { PriceList } from './savings-answer.ts'
import {
  addEntry,
  addLedgers,
  type Entry,
  emptyLedger,
  readLedger,
  type TenantLedger,
  writeLedger,
} from './tenant-ledger.ts'

/** Accounts for what the proxies forwarded, by tenant, in the store. */
export interface Savings {
  /**
   * Accounts for a request once `answered` resolves; `null`: there is nothing to account for. Never
   * rejects.
   */
  record(tenant: string, answered: Promise<AnsweredRequest | null>): Promise<void>
  /**
   * All sums of a tenant. Sums of other processes on the same store are included up to their last
   * write.
   * @throws AppError `overloaded`, `internal`, `worker_lost` if the store cannot be read
   */
  read(tenant: string): Promise<TenantLedger>
  /** In force now. */
  prices(): PriceList
  /** Writes what is not written yet. */
  close(): Promise<void>
}

export interface SavingsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Asked at each request, since a reload may change them; earlier bills stay as they are. */
  readonly prices: () => PriceList
  /** Unix milliseconds. */
  readonly now: () => number
  /** Called with each entry. */
  readonly onEntry: (tenant: string, entry: Entry) => void
  /** Called if sums cannot be written, once until they can again. */
  readonly onUnsaved: (detail: string) => void
  readonly onBug: (error: unknown) => void
  /** Between two writes of a tenant's ledger, in milliseconds. */
  readonly flushMs?: number
}

/** The format is in the key, so that a record of another version is never read as this one's. */
const RECORD = { namespace: 'savings', key: 'ledger.v1' } as const
const FLUSH_MS = 5_000
/**
 * How often a write is tried that another process came before, and how long to wait before the next
 * time.
 */
const MAX_ATTEMPTS = 8
const RETRY_MS = 20

/**
 * What this process has to add to a tenant's record; a few sums, however many requests they are of.
 */
interface Unsaved {
  pending: TenantLedger | null
  /**
   * The sums that are being written. If the store does not report the result, the stamp shows
   * whether they were written.
   */
  leaving: TenantLedger | null
  /** Reads and writes of the record, one after the other. */
  turn: Promise<unknown>
}

type Stored = { readonly ledger: TenantLedger | null; readonly version: number | undefined }

export function createSavings(options: SavingsOptions): Savings {
  const { now, onEntry, onUnsaved } = options
  const record = createLedgerRecord(options.store)
  const process = randomUUID()
  const tenants = new Map<string, Unsaved>()
  const accounting = new Set<Promise<void>>()
  let changes = 0
  let isUnsaved = false

  function unsavedOf(tenant: string): Unsaved {
    const known = tenants.get(tenant)
    if (known !== undefined) return known
    const unsaved: Unsaved = { pending: null, leaving: null, turn: Promise.resolve() }
    tenants.set(tenant, unsaved)
    return unsaved
  }

  function inTurn<T>(unsaved: Unsaved, what: () => Promise<T>): Promise<T> {
    const done = unsaved.turn.then(what)
    // The caller receives the failure.
    unsaved.turn = done.catch(() => undefined)
    return done
  }

  async function flush(tenant: string, unsaved: Unsaved): Promise<void> {
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

  /** The record with what this process has not added yet, or why the record cannot be read. */
  function whole(tenant: string): Promise<TenantLedger | Failure> {
    const unsaved = unsavedOf(tenant)
    return inTurn(unsaved, async () => {
      const stored = await record.load(tenant)
      if ('ok' in stored) return stored
      const { pending, leaving } = unsaved
      const isIn = leaving === null || leaving.stamp === stored.ledger?.stamp
      const sums = [stored.ledger, isIn ? null : leaving, pending].filter(each => each !== null)
      return sums.reduce(addLedgers, emptyLedger(now()))
    })
  }

  /** Tokens of a conversation that the provider had cached; 0 if that is not known. */
  async function cachedOf(tenant: string, { vendor, report }: AnsweredRequest): Promise<number> {
    if (report?.prefix_changed !== true) return 0
    const ledger = await whole(tenant)
    if ('ok' in ledger) return 0
    const { conversation } = report
    const found = ledger.conversations.find(
      each => each.vendor === vendor && each.id === conversation,
    )
    return found?.cached ?? 0
  }

  async function account(tenant: string, answered: Promise<AnsweredRequest | null>) {
    const request = await answered
    if (request === null) return
    const cachedBefore = await cachedOf(tenant, request)
    const entry = entryOf(request, { prices: options.prices().prices, cachedBefore })
    const unsaved = unsavedOf(tenant)
    unsaved.pending = addEntry(unsaved.pending ?? emptyLedger(now()), entry, now())
    onEntry(tenant, entry)
  }

  const timer = setInterval(() => void flushAll().catch(options.onBug), options.flushMs ?? FLUSH_MS)
  timer.unref()

  return {
    record(tenant, answered) {
      const done = account(tenant, answered).catch(options.onBug)
      accounting.add(done)
      return done.finally(() => accounting.delete(done))
    },
    prices: options.prices,
    async read(tenant) {
      const ledger = await whole(tenant)
      if (!('ok' in ledger)) return ledger
      throw AppError.of(failureProblem(ledger))
    },
    async close() {
      clearInterval(timer)
      await Promise.all(accounting)
      await flushAll()
    },
  }
}

/** A tenant's ledger as the store has it. */
interface LedgerRecord {
  /** The ledger, `null` if there is none yet; or why it cannot be read. */
  load(tenant: string): Promise<Stored | Failure>
  /** Adds what leaves to the record, even if another process writes it. Returns why it failed. */
  add(tenant: string, leaving: TenantLedger): Promise<Failure | null>
}

function createLedgerRecord(store: SavingsOptions['store']): LedgerRecord {
  async function load(tenant: string): Promise<Stored | Failure> {
    const result = await store.readRecord({ tenant, ...RECORD })
    if (result.ok) {
      const ledger = readLedger(result.value)
      if (ledger !== null) return { ledger, version: result.version }
      return { ok: false, reason: 'failed', detail: 'the record of savings cannot be understood' }
    }
    if (result.reason === 'not_found') return { ledger: null, version: 0 }
    // The record is lost, so it may be written again.
    if (result.reason === 'gone') return { ledger: null, version: undefined }
    return result
  }

  async function add(tenant: string, leaving: TenantLedger): Promise<Failure | null> {
    let failure: Failure | null = null
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (attempt > 0) await sleep(RETRY_MS * attempt)
      const stored = await load(tenant)
      if ('ok' in stored) return stored
      const { ledger, version } = stored
      if (ledger?.stamp === leaving.stamp) return null
      const sum = ledger === null ? leaving : addLedgers(leaving, ledger)
      const written = await store.writeRecord({
        tenant,
        ...RECORD,
        value: writeLedger(sum),
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
