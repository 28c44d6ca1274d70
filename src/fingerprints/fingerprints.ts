import type { Store } from '../store/store.ts'
import { createPublished, type Published } from './published.ts'
import { createFingerprintThread } from './task-thread.ts'
import { TeamRecords } from './team-records.ts'
import { Teams } from './teams.ts'

/** Fingerprints of endpoints: shared in teams, and published. */
export interface Fingerprints {
  readonly teams: Teams
  readonly published: Published
  /** Ends the thread; what is under way fails. */
  close(): Promise<void>
}

export interface FingerprintsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Unix milliseconds. */
  readonly now: () => number
  folderOf(tenant: string): string | null
  patterns(): readonly string[]
  /** The tenant's teams whose uploads are published too. */
  teams(): readonly string[]
  onBug(bug: string): void
  onLost(reason: string): void
}

/** Both share one thread, which does not start before it is needed. */
export function createFingerprints(options: FingerprintsOptions): Fingerprints {
  const thread = createFingerprintThread(options)
  const records = new TeamRecords(options.store, options.now)
  return {
    teams: new Teams({ ...options, thread }),
    published: createPublished({
      ...options,
      thread,
      recordsOf: (tenant, team) => records.all(tenant, team),
    }),
    close: () => thread.close(),
  }
}
