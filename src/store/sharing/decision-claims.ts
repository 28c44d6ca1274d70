import type { FreshRecord } from '../../core/contract/operation-result.ts'
import type {
  ClaimAnswer,
  ClaimedRecord,
  Failure,
  FailureReason,
  RecordClaim,
  Result,
  Store,
} from '../store.ts'
import { keyOfDecision, lifetimeOf, type OnRecord } from './rewrites.ts'

/** Decisions that one call claims, and their bytes: so many take Redis about a millisecond. */
const MOST_CLAIMS = 64
const MOST_BYTES = 128 * 1024

/** What is recorded of claimed decisions. */
type Claimed = Pick<OnRecord, 'found' | 'differs'>
type Unclaimed = 'unheard' | 'refused' | 'unknown'

const AWAY: ReadonlySet<FailureReason> = new Set(['unavailable', 'busy'])

/** Whether a store that gave this answer may be heard soon. */
export function isAway({ reason }: Pick<Failure, 'reason'>): boolean {
  return AWAY.has(reason)
}

/** @param mayReplace whether what is recorded was seen, or all of a request is to be replaced */
export function claimOf(record: FreshRecord, ttlMs: number, mayReplace: boolean): RecordClaim {
  const replaces = record.replaces === true && mayReplace
  return {
    ...keyOfDecision(record),
    value: record.bytes,
    ttlMs: lifetimeOf(record, ttlMs),
    ...(record.isQuestion === true ? { as: 'question' } : replaces ? { as: 'replace' } : {}),
  }
}

export interface ClaimGroupsOptions {
  toClaim(record: FreshRecord): RecordClaim
  /** Called after each call with whether the store was heard. */
  onAnswer(isHeard: boolean): void
}

/** Claims decisions, as many in one call as it may have, until some are recorded otherwise. */
export async function claimGroups(
  store: Pick<Store, 'claims'>,
  tenant: string,
  records: readonly FreshRecord[],
  { toClaim, onAnswer }: ClaimGroupsOptions,
): Promise<Claimed | Unclaimed> {
  const found: Record<string, Uint8Array> = {}
  for (const group of inGroups(records)) {
    const claimed = await claimGroup(store, tenant, group, group.map(toClaim))
    onAnswer(claimed !== 'unheard')
    if (typeof claimed === 'string') return claimed
    Object.assign(found, claimed.found)
    if (claimed.differs) return { found, differs: true }
  }
  return { found, differs: false }
}

/**
 * Claims some decisions. If those that are there are the same, and only stored otherwise, claims
 * the others once more.
 * @returns `unheard` if the store did not answer, `refused` if it takes nothing more, `unknown` if
 *   one that is there cannot be read
 */
async function claimGroup(
  store: Pick<Store, 'claims'>,
  tenant: string,
  records: readonly FreshRecord[],
  claims: readonly RecordClaim[],
): Promise<Claimed | Unclaimed> {
  const answer = await claimOnce(store, tenant, claims)
  if (!answer.ok) return isAway(answer) ? 'unheard' : 'refused'
  if (answer.records.some(({ is }) => is === 'unknown')) return 'unknown'
  const judged = judge(records, answer)
  if (judged.differs || !answer.isHeld) return judged
  const again = await claimOnce(
    store,
    tenant,
    claims.map((claim, i) => withKnown(claim, answer.records[i]!)),
  )
  if (!again.ok) return isAway(again) ? 'unheard' : 'refused'
  if (again.records.some(({ is }) => is === 'unknown' || is === 'damaged')) return 'unknown'
  const { found, differs } = judge(records, again)
  return again.isHeld && !differs ? 'unheard' : { found: { ...judged.found, ...found }, differs }
}

function claimOnce(
  { claims }: Pick<Store, 'claims'>,
  tenant: string,
  claimed: readonly RecordClaim[],
): Promise<Result<ClaimAnswer>> | typeof NO_CLAIMS {
  return claims?.claim(tenant, claimed) ?? NO_CLAIMS
}

/** The store has claims once it is open. */
const NO_CLAIMS = { ok: false, reason: 'unavailable', detail: 'the store is not open' } as const

/** A claim that knows what is there, and replaces what is damaged. */
function withKnown(claim: RecordClaim, found: ClaimedRecord): RecordClaim {
  if (found.is === 'other') return { ...claim, known: found.record.version }
  return found.is === 'damaged' ? { ...claim, known: found.version, as: 'replace' } : claim
}

function judge(records: readonly FreshRecord[], { records: claimed }: ClaimAnswer): Claimed {
  const found: Record<string, Uint8Array> = {}
  let differs = false
  for (const [i, each] of claimed.entries()) {
    const { key, bytes } = records[i]!
    if (each.is === 'same') found[key] = bytes
    if (each.is !== 'other') continue
    found[key] = each.record.value
    differs ||= Buffer.compare(each.record.value, bytes) !== 0
  }
  return { found, differs }
}

/** As many as one call may have, in their order: the later ones follow from the earlier ones. */
function* inGroups(records: readonly FreshRecord[]): Generator<readonly FreshRecord[]> {
  let group: FreshRecord[] = []
  let bytes = 0
  for (const record of new Map(records.map(each => [each.key, each])).values()) {
    const size = record.bytes.byteLength
    if (group.length === MOST_CLAIMS || (group.length > 0 && bytes + size > MOST_BYTES)) {
      yield group
      group = []
      bytes = 0
    }
    group.push(record)
    bytes += size
  }
  if (group.length > 0) yield group
}
