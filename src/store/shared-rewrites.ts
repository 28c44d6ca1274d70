import { setTimeout as sleep } from 'node:timers/promises'
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
  /** How long a turn of a conversation that another process had waits for the store. */
  readonly waitMs?: number
}

const NONE: ReadonlySet<string> = new Set()
/** For so long after a store has lost something, conversations are recorded again. */
const AGAIN_MS = 600_000
/** How often a store that is away is asked again. */
const ASK_AGAIN_MS = 50

/** Whether several of the decisions are about results. */
function seemsMoved(records: readonly FreshRecord[]): boolean {
  const ofResults = records.filter(({ generation, isUnit, isQuestion }) => {
    return generation === undefined && isUnit !== true && isQuestion !== true
  })
  return ofResults.length > 1
}

/**
 * Decisions in a store that other processes have too. They are claimed before the request leaves:
 * in one step, each is recorded unless any of them is recorded otherwise. So two processes, or two
 * versions, never send two prefixes.
 */
export function createSharedRewrites(options: SharedRewritesOptions): Rewrites {
  const { store, ttlMs } = options
  const unrecorded = new UnrecordedDecisions(options)
  /** Whether the last claim that failed was not heard. */
  let isAway = false
  let generation = ''
  let changedMs = Number.NEGATIVE_INFINITY
  const onReplaced = (tenant: string, key: string) => unrecorded.addReplaced(tenant, key)

  async function claimAll(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<OnRecord | 'unknown' | null> {
    const mayReplace = isReplacing(records)
    const found: Record<string, Uint8Array> = {}
    for (const group of inGroups(records)) {
      const claims = group.map(record =>
        claimOf(record, ttlMs(), mayReplace || asked.get(record.key) === true),
      )
      const claimed = await claimGroup(store, tenant, group, claims)
      if (claimed === null || claimed === 'unknown') return claimed
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
    if (claimed !== null && claimed !== 'unknown') {
      // A decision that is recorded and could not be followed is none of this version.
      if (!claimed.differs || Object.keys(claimed.found).some(isNewTo(asked))) return claimed
    }
    isAway = claimed === null
    unrecorded.attempted(tenant, records)
    return readAll(
      tenant,
      records.filter(({ key }) => isNewTo(asked)(key)),
    )
  }

  /**
   * The same. If several results are new here, another process may have sent some of them. Then the
   * prompt cache is worth a wait, as long as the store is away.
   */
  async function decideInTime(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<OnRecord> {
    const untilMs = performance.now() + (seemsMoved(records) ? (options.waitMs ?? 0) : 0)
    for (;;) {
      const decided = await decide(tenant, records, asked)
      if (decided.others !== 'unheard' || decided.differs || !isAway) return decided
      if (performance.now() >= untilMs) return decided
      await sleep(ASK_AGAIN_MS)
    }
  }

  return {
    get mayHaveLost() {
      const now = store.claims?.generation ?? ''
      if (now !== generation && generation !== '') changedMs = performance.now()
      if (now !== '') generation = now
      return performance.now() - changedMs < AGAIN_MS
    },
    async decide(tenant, records, asked) {
      if (records.length === 0) return { found: {}, differs: false, others: 'recorded' }
      const { waitMs = 0 } = options
      const decided = await inTime(decideInTime(tenant, records, asked), RECALL_MS + waitMs)
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
