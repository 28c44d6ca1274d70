import { setTimeout as sleep } from 'node:timers/promises'
import type { FailureReason, Store } from './store.ts'
import type { StoreState, StoreStats } from './values/store-figures.ts'

/** How long the store may take to show that it is there, in milliseconds. */
const ANSWER_MS = 1_000

/** Failures that the store's queue reports, not the store itself. */
const AWAY: ReadonlySet<FailureReason> = new Set(['lost', 'closed'])

/** `away`: it does not answer at all, and requests would wait for it. */
export type StoreHealth = StoreState | 'away'

/** Whether the store answers, and what it can do. "Busy" and "cannot write" are answers too. */
export async function storeHealth(store: Pick<Store, 'readRecord' | 'load'>): Promise<StoreHealth> {
  const key = { tenant: '', namespace: 'health', key: 'none' }
  const late = sleep(ANSWER_MS, null, { ref: false })
  const result = await Promise.race([store.readRecord(key), late])
  if (result === null || (!result.ok && AWAY.has(result.reason))) return 'away'
  return store.load.state
}

/**
 * The store's own figures; `null` if it does not answer in time: a scrape leaves them out and does
 * not wait.
 */
export async function statsOf(store: Pick<Store, 'stats'>): Promise<StoreStats | null> {
  const stats = await Promise.race([store.stats(), sleep(ANSWER_MS, null, { ref: false })])
  return stats?.ok === true ? stats : null
}
