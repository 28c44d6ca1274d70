import { inTime } from '../../core/base/deadline.ts'
import type { FreshRecord } from '../../core/contract/operation-result.ts'
import type { RecordClaim, Store } from '../store.ts'
import { OutageWaits, type WaitBounds } from '../values/outage-waits.ts'
import { claimGroups, claimOf } from './decision-claims.ts'
import {
  type AskedKeys,
  isReplacing,
  keyOfDecision,
  type OnRecord,
  RECALL_MS,
  type RecordedBefore,
  type Rewrites,
  readDecisions,
  UNHEARD,
} from './rewrites.ts'
import { UnrecordedDecisions, type UnrecordedOptions } from './unrecorded-decisions.ts'

export interface SharedRewritesOptions extends UnrecordedOptions {
  readonly store: Pick<Store, 'readRecord' | 'claims'>
  /** How long a turn waits for a store that is not heard, in milliseconds. */
  readonly waitMs?: number
  /** How old an outage may be in which a turn waits whose results another process may have sent. */
  readonly outageMs?: number
}

const NONE: RecordedBefore = new Map()
/** For so long after a store has lost something, conversations are recorded again. */
const AGAIN_MS = 600_000
/** How long the end of an answer waits for what its turn could not claim. */
const RECORD_MS = 2_000
const NO_BYTES = new Uint8Array(0)

/**
 * Decisions in a store that other processes have too. They are claimed before the request leaves:
 * in one step, each is recorded unless any of them is recorded otherwise. So two processes, or two
 * versions, never send two prefixes.
 */
export function createSharedRewrites(options: SharedRewritesOptions): Rewrites {
  const { store, ttlMs, waitMs = 0, outageMs = 0 } = options
  const waits = new OutageWaits({
    awayMs: () => store.claims?.awayMs ?? 0,
    isRefusing: () => store.claims?.isRefusing === true,
    waitMs,
    outageMs,
  })
  const onAnswer = (isHeard: boolean) => waits.note(isHeard)
  const unrecorded = new UnrecordedDecisions({ ...options, onAnswer })
  let generation = ''
  let changedMs = Number.NEGATIVE_INFINITY
  const onReplaced = (tenant: string, key: string) => unrecorded.addReplaced(tenant, key)

  /** What is recorded still holds, if the store only takes nothing more. */
  async function readAll(tenant: string, records: readonly FreshRecord[]): Promise<OnRecord> {
    const read = await readDecisions(store, tenant, records)
    return { ...UNHEARD, ...read }
  }

  /** Claims once. @returns whether the store may soon be heard as well */
  async function decideOnce(
    tenant: string,
    records: readonly FreshRecord[],
    asked: AskedKeys,
  ): Promise<{ readonly decided: OnRecord; readonly isOpen: boolean }> {
    // The store has claims once it is open.
    if (store.claims !== undefined) store.claims.onReplaced = onReplaced
    const known = await askFirst(store, { tenant, records, asked }, onAnswer)
    if (known !== null) return { decided: known, isOpen: known.others === 'unsure' }
    const mayReplace = isReplacing(records)
    const toClaim = (record: FreshRecord) =>
      claimOf(record, ttlMs(), mayReplace || asked.get(record.key) === true)
    const claimed = await claimGroups(store, tenant, records, { toClaim, onAnswer })
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
    bounds: WaitBounds,
  ): Promise<OnRecord> {
    const { decided } = await waits.hear({
      ask: () => decideOnce(tenant, records, asked),
      isHeard: ({ isOpen }) => !isOpen,
      isEarlier: records.some(isEarlierResult),
      bounds,
    })
    return decided
  }

  return {
    waits,
    get mayHaveLost() {
      const now = store.claims?.generation ?? ''
      if (now !== generation && generation !== '') changedMs = performance.now()
      if (now !== '') generation = now
      return performance.now() - changedMs < AGAIN_MS
    },
    async decide(tenant, records, asked, bounds = NO_BOUNDS) {
      if (records.length === 0) return { found: {}, differs: false, others: 'recorded' }
      const limitMs = RECALL_MS + waitMs + (records.some(isEarlierResult) ? outageMs : 0)
      let isLate = false
      const isOver = () => isLate || bounds.isOver()
      const deciding = decideInTime(tenant, records, asked, { ...bounds, isOver })
      const decided = await inTime(deciding, limitMs)
      isLate = decided === null
      // Another attempt of the same turn may be sent instead, and it may differ.
      if (isOver()) unrecorded.attempted(tenant, records)
      return decided ?? UNHEARD
    },
    async record(tenant, records) {
      await inTime(unrecorded.add(tenant, records), RECORD_MS)
      return NONE
    },
  }
}

interface Question {
  readonly tenant: string
  readonly records: readonly FreshRecord[]
  readonly asked: AskedKeys
}

/**
 * Asks for decisions on results that another process may have sent, before this one decides on
 * them. @returns `null` if this one may
 */
async function askFirst(
  store: SharedRewritesOptions['store'],
  { tenant, records, asked }: Question,
  onAnswer: (isHeard: boolean) => void,
): Promise<OnRecord | null> {
  const earlier = records.filter(({ key, isEarlier }) => isEarlier === true && !asked.has(key))
  if (earlier.length === 0 || store.claims?.isDoubtful !== true) return null
  if (isReplacing(records)) return null
  const toClaim = (record: FreshRecord): RecordClaim => {
    return { ...keyOfDecision(record), value: NO_BYTES, as: 'question' }
  }
  const found = await claimGroups(store, tenant, earlier, { toClaim, onAnswer })
  if (typeof found === 'string') return null
  if (found.differs) return { ...found, others: 'left' }
  const isKnown = earlier.every(({ key }) => found.found[key] !== undefined)
  return isKnown ? null : { ...found, others: 'unsure' }
}

const NO_BOUNDS: WaitBounds = { untilMs: Number.POSITIVE_INFINITY, isOver: () => false }
const isEarlierResult = ({ isEarlier }: FreshRecord) => isEarlier === true
const isNewTo = (asked: AskedKeys) => (key: string) => asked.get(key) !== true
