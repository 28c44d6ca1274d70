import { setTimeout as sleep } from 'node:timers/promises'
import { inTime } from '../core/base/deadline.ts'
import type { FreshRecord } from '../core/contract/operation-result.ts'
import { type Claimed, claimGroup, claimOf, inGroups, type Unclaimed } from './decision-claims.ts'
import {
  type AskedKeys,
  isReplacing,
  keyOfDecision,
  type OnRecord,
  RECALL_MS,
  type Rewrites,
  readDecisions,
  UNHEARD,
} from './rewrites.ts'
import type { RecordClaim, Store } from './store.ts'
import { UnrecordedDecisions, type UnrecordedOptions } from './unrecorded-decisions.ts'

export interface SharedRewritesOptions extends UnrecordedOptions {
  readonly store: Pick<Store, 'readRecord' | 'claims'>
  /**
   * How long a turn waits for the store, in milliseconds. One with results that another process may
   * have sent waits so long in any case, and any other turn until the store has been away so long.
   */
  readonly waitMs?: number
}

const NONE: ReadonlySet<string> = new Set()
/** For so long after a store has lost something, conversations are recorded again. */
const AGAIN_MS = 600_000
/** How often a store that is away is asked again. */
const ASK_AGAIN_MS = 50
/** How long the end of an answer waits for what its turn could not claim. */
const RECORD_MS = 2_000
const NO_BYTES = new Uint8Array(0)

/**
 * Decisions in a store that other processes have too. They are claimed before the request leaves:
 * in one step, each is recorded unless any of them is recorded otherwise. So two processes, or two
 * versions, never send two prefixes.
 */
export function createSharedRewrites(options: SharedRewritesOptions): Rewrites {
  const { store, ttlMs } = options
  const unrecorded = new UnrecordedDecisions(options)
  let generation = ''
  let changedMs = Number.NEGATIVE_INFINITY
  const onReplaced = (tenant: string, key: string) => unrecorded.addReplaced(tenant, key)

  async function claimAll(
    tenant: string,
    records: readonly FreshRecord[],
    toClaim: (record: FreshRecord) => RecordClaim,
  ): Promise<Claimed | Unclaimed> {
    const found: Record<string, Uint8Array> = {}
    for (const group of inGroups(records)) {
      const claimed = await claimGroup(store, tenant, group, group.map(toClaim))
      if (typeof claimed === 'string') return claimed
      Object.assign(found, claimed.found)
      if (claimed.differs) return { found, differs: true }
    }
    return { found, differs: false }
  }

  /** What is recorded still holds, if the store only takes nothing more. */
  async function readAll(tenant: string, records: readonly FreshRecord[]): Promise<OnRecord> {
    const read = await readDecisions(store, tenant, records)
    return { ...UNHEARD, ...read }
  }

  /**
   * Asks for decisions on results that another process may have sent, before this one decides on
   * them. @returns `null` if this one may
   */
  async function askFirst(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<OnRecord | null> {
    const earlier = records.filter(({ key, isEarlier }) => isEarlier === true && !asked.has(key))
    if (earlier.length === 0 || store.claims?.isDoubtful !== true) return null
    if (isReplacing(records)) return null
    const question = (record: FreshRecord) =>
      ({ ...keyOfDecision(record), value: NO_BYTES, as: 'question' }) as const
    const found = await claimAll(tenant, earlier, question)
    if (typeof found === 'string') return null
    if (found.differs) return { ...found, others: 'left' }
    const isKnown = earlier.every(({ key }) => found.found[key] !== undefined)
    return isKnown ? null : { ...found, others: 'unsure' }
  }

  /** Claims once. @returns whether the store may soon be heard as well */
  async function decideOnce(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<{ readonly decided: OnRecord; readonly isOpen: boolean }> {
    // The store has claims once it is open.
    if (store.claims !== undefined) store.claims.onReplaced = onReplaced
    const known = await askFirst(tenant, records, asked)
    if (known !== null) return { decided: known, isOpen: known.others === 'unsure' }
    const mayReplace = isReplacing(records)
    const claimed = await claimAll(tenant, records, record =>
      claimOf(record, ttlMs(), mayReplace || asked.get(record.key) === true),
    )
    if (typeof claimed !== 'string') {
      // A decision that is recorded and could not be followed is none of this version.
      const isUsable = !claimed.differs || Object.keys(claimed.found).some(isNewTo(asked))
      const others = claimed.differs ? 'left' : 'recorded'
      if (isUsable) return { decided: { ...claimed, others }, isOpen: false }
    }
    unrecorded.attempted(tenant, records)
    const unasked = records.filter(({ key }) => isNewTo(asked)(key))
    const decided = await readAll(tenant, unasked)
    return { decided, isOpen: claimed === 'unheard' && !decided.differs }
  }

  /** The same, and waits: a prompt cache, and what results save, are worth more than a moment. */
  async function decideInTime(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<OnRecord> {
    const mayBeSent = records.some(({ isEarlier }) => isEarlier === true)
    const awayMs = mayBeSent ? 0 : (store.claims?.awayMs ?? 0)
    const untilMs = performance.now() + (options.waitMs ?? 0) - awayMs
    for (;;) {
      const { decided, isOpen } = await decideOnce(tenant, records, asked)
      if (!isOpen || performance.now() >= untilMs) return decided
      await sleep(ASK_AGAIN_MS)
    }
  }

  return {
    waitMs: options.waitMs ?? 0,
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
      await inTime(unrecorded.add(tenant, records), RECORD_MS)
      return NONE
    },
  }
}

const isNewTo = (asked: AskedKeys) => (key: string) => asked.get(key) !== true
