import { inTime } from '../core/base/deadline.ts'
import type { FreshRecord } from '../core/contract/operation-result.ts'
import { claimGroup, claimOf, inGroups } from './decision-claims.ts'
import {
  type AskedKeys,
  isReplacing,
  type OnRecord,
  RECALL_MS,
  type Rewrites,
  readDecisions,
  UNHEARD,
} from './rewrites.ts'
import type { Store } from './store.ts'
import { UnrecordedDecisions, type UnrecordedOptions } from './unrecorded-decisions.ts'

export interface SharedRewritesOptions extends UnrecordedOptions {
  readonly store: Pick<Store, 'readRecord' | 'claims'>
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Decisions in a store that other processes have too. They are claimed before the request leaves:
 * in one step, each is recorded unless any of them is recorded otherwise. So two processes, or two
 * versions, never send two prefixes.
 */
export function createSharedRewrites(options: SharedRewritesOptions): Rewrites {
  const { store, ttlMs } = options
  const unrecorded = new UnrecordedDecisions(options)
  const onReplaced = (tenant: string, key: string) => unrecorded.addReplaced(tenant, key)

  async function claimAll(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<OnRecord | null> {
    const mayReplace = isReplacing(records)
    const found: Record<string, Uint8Array> = {}
    for (const group of inGroups(records)) {
      const claims = group.map(record =>
        claimOf(record, ttlMs(), mayReplace || asked.get(record.key) === true),
      )
      const claimed = await claimGroup(store, tenant, group, claims)
      if (claimed === null) return null
      Object.assign(found, claimed.found)
      if (claimed.differs) return { found, differs: true, others: 'left' }
    }
    return { found, differs: false, others: 'recorded' }
  }

  /** What is recorded still holds, if the store only takes nothing more. */
  async function readAll(tenant: string, records: readonly FreshRecord[]): Promise<OnRecord> {
    const read = await readDecisions(store, tenant, records)
    return { ...UNHEARD, ...read }
  }

  async function decide(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<OnRecord> {
    // The store has claims once it is open.
    if (store.claims !== undefined) store.claims.onReplaced = onReplaced
    const claimed = await claimAll(tenant, records, asked)
    // A decision that is recorded and could not be followed is none of this version.
    const isFollowed = claimed?.differs !== true || Object.keys(claimed.found).some(isNewTo(asked))
    if (claimed !== null && isFollowed) return claimed
    unrecorded.attempted(tenant, records)
    return readAll(
      tenant,
      records.filter(({ key }) => isNewTo(asked)(key)),
    )
  }

  return {
    async decide(tenant, records, asked) {
      if (records.length === 0) return { found: {}, differs: false, others: 'recorded' }
      const decided = await inTime(decide(tenant, records, asked), RECALL_MS)
      if (decided === null) unrecorded.attempted(tenant, records)
      return decided ?? UNHEARD
    },
    async record(tenant, records) {
      unrecorded.add(tenant, records)
      return NONE
    },
  }
}

const isNewTo = (asked: AskedKeys) => (key: string) => asked.get(key) !== true
