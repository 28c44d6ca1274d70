import { inTime } from '../../core/base/deadline.ts'
import type { FreshRecord } from '../../core/contract/operation-result.ts'
import type { RecordKey, Result, Store, StoredRecord } from '../store.ts'
import type { OutageWaits, WaitBounds } from '../values/outage-waits.ts'

/**
 * The record of what proxies have sent for tool results. The decision that is written first is
 * valid.
 */
export interface Rewrites {
  /** How turns wait for a store that processes share; absent: this process has it for itself. */
  readonly waits?: Pick<OutageWaits, 'hear'>
  /** Whether the store may have lost decisions that memory has; absent: never. */
  readonly mayHaveLost?: boolean
  /**
   * Looks whether other decisions are recorded for these keys. A store that processes share records
   * new ones in the same step, if none is another one. Never rejects.
   * @param records all decisions of a request, in the order of the conversation
   * @param asked keys that were asked for before, and whether these were made by what was found
   * @param bounds of the wait for a store that is not heard; absent: only those that all turns have
   * @param ahead what was looked up already
   */
  decide(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
    bounds?: WaitBounds,
    ahead?: LookupsAhead,
  ): Promise<OnRecord>
  /** Looks decisions up while they are being made; absent: that is of no use. */
  lookAhead?(tenant: string): LookupsAhead
  /**
   * Records decisions that `decide` left. Never rejects, and resolves within two seconds.
   * @returns keys for which a decision was recorded first; if it is another one, it is used from
   *   the next turn on
   */
  record(tenant: string, records: readonly FreshRecord[]): Promise<RecordedBefore>
}

/** Keys that a decision was recorded for before, and whether it is the same. */
export type RecordedBefore = ReadonlyMap<string, 'same' | 'other'>

/** Decisions of a tenant that are looked up while they are being made. */
export interface LookupsAhead {
  look(keys: readonly string[]): void
  /** What the store says of a key; `undefined` if it was not looked up. */
  find(key: string): Promise<Result<StoredRecord>> | undefined
}

/** Keys of decisions, and whether there was a record. */
export type AskedKeys = ReadonlyMap<string, boolean>

export interface OnRecord {
  /** By their keys. */
  readonly found: Readonly<Record<string, Uint8Array>>
  /** Whether any of them differs from the decision that was given. */
  readonly differs: boolean
  /**
   * What became of the others: they are recorded, or still to be recorded, or the store could not
   * be asked and they hold unrecorded for now. `unsure`: earlier ones are not recorded, and another
   * process may have sent them without what it could not record.
   */
  readonly others: 'recorded' | 'left' | 'unheard' | 'unsure'
}

/**
 * Records of earlier versions must stay readable, or conversations under way lose their prompt
 * caches.
 */
const NAMESPACE = 'rewrites'
/** Reads that are under way at once for one request. */
const READS_AT_ONCE = 64
/**
 * How long a request waits for the store, in milliseconds. It is long, since without an answer the
 * prompt cache of a conversation may be lost.
 */
export const RECALL_MS = 2_000
const RECORD_MS = 2_000
/** A unit's arm is recorded for longer than its salt is in use. */
const UNIT_TTL_MS = 100 * 86_400_000
const NONE: RecordedBefore = new Map()
export const UNHEARD: OnRecord = { found: {}, differs: false, others: 'unheard' }

/** Where the decision of a key is recorded. */
export function keyOfDecision({ key }: Pick<FreshRecord, 'key'>): Omit<RecordKey, 'tenant'> {
  return { namespace: NAMESPACE, key }
}

/** How long a decision is recorded. @param ttlMs of most of them */
export function lifetimeOf({ isUnit }: FreshRecord, ttlMs: number): number {
  return isUnit === true ? Math.max(UNIT_TTL_MS, ttlMs) : ttlMs
}

/**
 * Reads decisions of a tenant, so many at once.
 * @param options.isWanted asked before more are read
 * @param options.ahead what was looked up already; what failed is read once more
 * @returns `null` if some cannot be read
 */
export async function readDecisions(
  store: Pick<Store, 'readRecord'>,
  tenant: string,
  records: readonly FreshRecord[],
  { isWanted = () => true, ahead }: RewriteReading = {},
): Promise<Pick<OnRecord, 'found' | 'differs'> | null> {
  const found: Record<string, Uint8Array> = {}
  let differs = false
  for (let from = 0; from < records.length && isWanted(); from += READS_AT_ONCE) {
    const some = records.slice(from, from + READS_AT_ONCE)
    const read = some.map(record => {
      const readNow = () => store.readRecord({ tenant, ...keyOfDecision(record) })
      const early = ahead?.find(record.key)
      if (early === undefined) return readNow()
      return early.then(result => (isHeard(result) || !isWanted() ? result : readNow()))
    })
    for (const [index, result] of (await Promise.all(read)).entries()) {
      const record = some[index]!
      if (!isHeard(result)) return null
      if (result.ok) {
        found[record.key] = result.value
        differs ||= Buffer.compare(result.value, record.bytes) !== 0
      }
    }
  }
  return { found, differs }
}

interface RewriteReading {
  readonly isWanted?: () => boolean
  readonly ahead?: LookupsAhead | undefined
}

/** Whether the store says if there is a record. A damaged one counts as none. */
function isHeard(result: Result<StoredRecord>): boolean {
  return result.ok || ABSENT.has(result.reason)
}

/**
 * Decisions in a store that this process has for itself: they are recorded while the request is
 * under way.
 * @param ttlMs how long a decision is recorded, asked each time
 */
export function createRewrites(
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  ttlMs: () => number,
): Rewrites {
  /** If the rewrite fails, nothing waits for what is read here. */
  function readAhead(tenant: string, key: string): Promise<Result<StoredRecord>> {
    const read = async () => store.readRecord({ tenant, ...keyOfDecision({ key }) })
    const reading = read()
    reading.catch(() => {})
    return reading
  }

  async function recordAll(tenant: string, records: readonly FreshRecord[]) {
    const before = new Map<string, 'same' | 'other'>()
    const written = records.map(async record => {
      if (record.isQuestion === true) return
      const at = { tenant, ...keyOfDecision(record) }
      const expected = record.replaces === true ? {} : { ifVersion: 0 }
      const lifetime = lifetimeOf(record, ttlMs())
      const write = { ...at, value: record.bytes, ttlMs: lifetime, ...expected }
      const result = await store.writeRecord(write)
      if (result.ok || result.reason !== 'conflict') return
      const first = await store.readRecord(at)
      if (!first.ok) return
      const isSame = Buffer.compare(first.value, record.bytes) === 0
      before.set(record.key, isSame ? 'same' : 'other')
    })
    await Promise.all(written)
    return before
  }

  return {
    lookAhead(tenant) {
      const found = new Map<string, Promise<Result<StoredRecord>>>()
      return {
        look(keys) {
          for (const key of keys) found.set(key, readAhead(tenant, key))
        },
        find: key => found.get(key),
      }
    },
    async decide(tenant, records, asked, _bounds, ahead) {
      const unasked = records.filter(({ key }) => !asked.has(key))
      if (isReplacing(unasked)) return { found: {}, differs: false, others: 'left' }
      let isWanted = true
      const read = readDecisions(store, tenant, unasked, { isWanted: () => isWanted, ahead })
      const recalled = await inTime(read, RECALL_MS)
      isWanted = false
      return recalled === null ? UNHEARD : { ...recalled, others: 'left' }
    },
    async record(tenant, records) {
      return (await inTime(recordAll(tenant, records), RECORD_MS)) ?? NONE
    },
  }
}

/**
 * Whether none of the decisions is new. If any is, one that seems to need replacing may only differ
 * from the record.
 */
export function isReplacing(records: readonly FreshRecord[]): boolean {
  return records.every(({ replaces }) => replaces === true)
}

const ABSENT: ReadonlySet<string> = new Set(['not_found', 'gone'])
