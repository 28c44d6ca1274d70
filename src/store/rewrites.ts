import { inTime } from '../core/base/deadline.ts'
import type { FreshRecord } from '../core/contract/operation-result.ts'
import type { RecordKey, Store } from './store.ts'

/**
 * The record of what proxies have sent for tool results. The decision that is written first is
 * valid.
 */
export interface Rewrites {
  /**
   * Looks up the recorded decisions of these keys. If any decision is new, the store is asked for
   * all, because a decision that seems to need replacing may only differ from the record.
   * @returns `null` if the store does not answer in time
   */
  recall(tenant: string, records: readonly FreshRecord[]): Promise<OnRecord | null>
  /**
   * Records decisions. Never rejects, and resolves within two seconds.
   * @returns keys for which another process recorded another decision first; that decision is used
   *   from the next turn on
   */
  record(tenant: string, records: readonly FreshRecord[]): Promise<ReadonlySet<string>>
}

export interface OnRecord {
  /** By their keys. */
  readonly found: Readonly<Record<string, Uint8Array>>
  /** Whether any of them differs from the decision that was given. */
  readonly differs: boolean
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
const RECALL_MS = 2_000
const RECORD_MS = 2_000
/** A unit's arm is recorded for longer than its salt is in use. */
const UNIT_TTL_MS = 100 * 86_400_000
const NONE: ReadonlySet<string> = new Set()

/** @param ttlMs how long a decision is recorded, asked each time */
export function createRewrites(
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  ttlMs: () => number,
): Rewrites {
  const keyOf = (tenant: string, { key }: FreshRecord): RecordKey => {
    return { tenant, namespace: NAMESPACE, key }
  }

  async function recallAll(
    tenant: string,
    records: readonly FreshRecord[],
    isWanted: () => boolean,
  ) {
    const recalled: Record<string, Uint8Array> = {}
    let differs = false
    for (let from = 0; from < records.length && isWanted(); from += READS_AT_ONCE) {
      const some = records.slice(from, from + READS_AT_ONCE)
      const found = await Promise.all(some.map(record => store.readRecord(keyOf(tenant, record))))
      for (const [index, result] of found.entries()) {
        const record = some[index]!
        if (!result.ok) {
          if (!ABSENT.has(result.reason)) return null
        } else {
          recalled[record.key] = result.value
          differs ||= Buffer.compare(result.value, record.bytes) !== 0
        }
      }
    }
    return { found: recalled, differs }
  }

  async function recordAll(tenant: string, records: readonly FreshRecord[]) {
    const overruled = new Set<string>()
    const written = records.map(async record => {
      if (record.isQuestion === true) return
      const at = keyOf(tenant, record)
      const expected = record.replaces === true ? {} : { ifVersion: 0 }
      const lifetime = record.isUnit === true ? Math.max(UNIT_TTL_MS, ttlMs()) : ttlMs()
      const write = { ...at, value: record.bytes, ttlMs: lifetime, ...expected }
      const result = await store.writeRecord(write)
      if (result.ok || result.reason !== 'conflict') return
      const first = await store.readRecord(at)
      if (first.ok && Buffer.compare(first.value, record.bytes) !== 0) overruled.add(record.key)
    })
    await Promise.all(written)
    return overruled
  }

  return {
    async recall(tenant, records) {
      if (records.every(({ replaces }) => replaces === true)) return { found: {}, differs: false }
      let isWanted = true
      const recalled = await inTime(
        recallAll(tenant, records, () => isWanted),
        RECALL_MS,
      )
      isWanted = false
      return recalled
    },
    async record(tenant, records) {
      return (await inTime(recordAll(tenant, records), RECORD_MS)) ?? NONE
    },
  }
}

/** A damaged record counts as none. */
const ABSENT: ReadonlySet<string> = new Set(['not_found', 'gone'])
