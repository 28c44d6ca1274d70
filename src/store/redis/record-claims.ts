import type {
  ClaimAnswer,
  ClaimedRecord,
  RecordClaim,
  RecordClaims,
  RecordWrite,
  Result,
} from '../store.ts'
import { fail } from '../values/failure.ts'
import { EVICTING, refusal, STRANGE, TOO_LATE } from './failures.ts'
import { versionOf } from './layout.ts'
import type { RecentWrite } from './recent-writes.ts'
import { idOf, isTooLarge, NO_KEY, type RecordsOptions, type RedisRecords } from './records.ts'

/**
 * Fields of each record in an answer: what it is, its version or value, the version it replaced.
 */
const FIELDS = 3

/** Claims of records in Redis. Nothing here rejects for an expected failure. */
export class RedisClaims implements RecordClaims {
  onReplaced: RecordClaims['onReplaced'] = () => {}
  readonly #options: RecordsOptions
  readonly #records: RedisRecords

  constructor(options: RecordsOptions, records: RedisRecords) {
    this.#options = options
    this.#records = records
  }

  get generation(): string {
    return this.#options.server.generation
  }

  get isDoubtful(): boolean {
    const { mayLack, isSharded, contact } = this.#options.server
    // Through a cluster, processes do not watch each other.
    return mayLack || !(isSharded || contact.isSure)
  }

  get awayMs(): number {
    return this.#options.server.awayMs
  }

  get isRefusing(): boolean {
    return this.#options.server.isRefusing
  }

  async claim(tenant: string, claims: readonly RecordClaim[]): Promise<Result<ClaimAnswer>> {
    const { server, rootOf, time, register, tenantMaxBytes, tombstoneMs } = this.#options
    if (claims.some(isTooLarge)) return fail('too_large', 'a record of a claim is too large')
    const sealed = claims.map(claim => this.#records.seal({ tenant, ...claim }))
    const unknown = await register(tenant)
    if (unknown !== undefined) return unknown
    const root = rootOf(tenant)
    const { connection } = server
    const called = await server.call('claim_records', root, [
      time(),
      `${tenantMaxBytes}`,
      `${tombstoneMs}`,
      `${claims.length}`,
      ...claims.flatMap((claim, i) => [
        idOf(claim),
        `${claim.ttlMs ?? -1}`,
        `${sealed[i]!.charge}`,
        `${claim.value.byteLength}`,
        sealed[i]!.tail,
        `${claim.known ?? -1}`,
        claim.as ?? 'new',
      ]),
    ])
    // To wait for another policy would hold up each turn.
    if (called === EVICTING) return fail('full', EVICTING.detail)
    if (!called.ok) return called
    const [outcome, guard, ...found] = called.reply as [Buffer, Buffer, ...unknown[]]
    const isHeld = String(outcome) === 'held'
    if (String(outcome) === 'late') return TOO_LATE
    if (!isHeld && String(outcome) !== 'ok') return refusal(String(outcome))
    if (found.length !== claims.length * FIELDS) return STRANGE
    const records = claims.map((claim, i): ClaimedRecord => {
      const [is, value, replaced] = found.slice(i * FIELDS) as [Buffer, Buffer | number, number]
      if (String(is) === 'mine') {
        const write: RecordWrite = { tenant, ...claim }
        const args = this.#records.writeArgs(write, sealed[i]!, replaced)
        const { key } = claim
        const onReplaced = () => this.onReplaced(tenant, key)
        const whose = { ...this.#whose(root, guard), version: `${value}`, onReplaced }
        server.remember({ ...whose, args }, connection)
      }
      return this.#foundOf(tenant, claim, String(is), value)
    })
    // A claim that no replica has confirmed is made again after a failover.
    if (!isHeld) await server.confirm(root, connection)
    return { ok: true, isHeld, records }
  }

  #whose(root: string, guard: Buffer): Omit<RecentWrite, 'args'> {
    return { name: 'write_record', root, session: '', guard: String(guard) }
  }

  #foundOf(tenant: string, claim: RecordClaim, is: string, value: Buffer | number): ClaimedRecord {
    if (is === 'mine' || is === 'same' || is === 'absent') return { is }
    if (is !== 'other' || typeof value === 'number') return { is: 'unknown' }
    const opened = this.#records.open({ tenant, ...claim }, value)
    if (opened.ok) return { is: 'other', record: opened }
    if (opened === NO_KEY) return { is: 'unknown' }
    return { is: 'damaged', version: versionOf(value) }
  }
}
