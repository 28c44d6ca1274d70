import type { FreshRecord } from '../../core/contract/operation-result.ts'
import type { RecordClaim, Store } from '../store.ts'
import { claimOf, isAway } from './decision-claims.ts'
import { keyOfDecision } from './rewrites.ts'

export interface UnrecordedOptions {
  readonly store: Pick<Store, 'claims'>
  /** How long a decision is recorded, asked each time. */
  ttlMs(): number
  /** Called with the recorded decision if it is another one than was sent from here. */
  onOverruled(key: string, bytes: Uint8Array): void
  /** Called with each answer of the store: whether it was heard. */
  onAnswer?(isHeard: boolean): void
  /** Between two attempts to record what was not heard, in milliseconds. */
  readonly retryMs?: number
}

/** A decision that was sent, and is not recorded. */
interface Unrecorded {
  readonly tenant: string
  readonly claim: RecordClaim
  /**
   * What was claimed for it when the store was not heard: any of it may be recorded since. It may
   * be replaced once, before the answer ends: after that another process may have sent it.
   */
  attempted: readonly Uint8Array[]
}

const RETRY_MS = 500
/** As many as travel in one call. */
const CLAIMS_AT_ONCE = 16
const MAX_ENTRIES = 4_096
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Decisions that were sent while the store was not heard. They are claimed once it is, so that
 * other processes repeat them. One that another process has decided otherwise gives way: one prompt
 * cache is lost then, instead of one at each turn that comes to another process.
 */
export class UnrecordedDecisions {
  readonly #options: UnrecordedOptions
  readonly #attempted = new Recent<readonly Uint8Array[]>(all =>
    all.reduce((sum, { byteLength }) => sum + byteLength, 0),
  )
  readonly #waiting = new Recent<Unrecorded>(({ claim }) => claim.value.byteLength)
  #timer: NodeJS.Timeout | undefined
  #isTelling = false

  constructor(options: UnrecordedOptions) {
    this.#options = options
  }

  /**
   * Decisions that were claimed: it is unknown whether they were recorded. What is recorded of an
   * earlier result may be another process's, also if it is the same.
   */
  attempted(tenant: string, records: readonly FreshRecord[]): void {
    for (const { key, bytes, isEarlier } of records) {
      if (isEarlier === true) continue
      const name = nameOf(tenant, key)
      const before = this.#attempted.get(name) ?? NONE
      if (!hasBytes(before, bytes)) this.#attempted.set(name, [...before, new Uint8Array(bytes)])
    }
  }

  /** Decisions that were sent. Resolves when the store was told of them, or was not heard. */
  async add(tenant: string, records: readonly FreshRecord[]): Promise<void> {
    const added: (readonly [string, Unrecorded])[] = []
    for (const record of records) {
      if (record.isQuestion === true) continue
      const name = nameOf(tenant, record.key)
      // The memory of the request's own bytes is freed when it has left.
      const kept = { ...record, bytes: new Uint8Array(record.bytes) }
      const claim = claimOf(kept, this.#options.ttlMs(), true)
      const unrecorded = { tenant, claim, attempted: this.#attempted.get(name) ?? NONE }
      this.#waiting.set(name, unrecorded)
      added.push([name, unrecorded])
    }
    for (let from = 0, isHeard = true; isHeard && from < added.length; from += CLAIMS_AT_ONCE)
      isHeard = await this.#tellSome(added.slice(from, from + CLAIMS_AT_ONCE))
    for (const [, unrecorded] of added) unrecorded.attempted = NONE
    this.#schedule()
  }

  /** A decision that was recorded, and was lost and replaced. */
  addReplaced(tenant: string, key: string): void {
    const name = nameOf(tenant, key)
    if (this.#waiting.get(name) !== undefined) return
    const claim = { ...keyOfDecision({ key }), value: new Uint8Array(0), as: 'question' } as const
    this.#waiting.set(name, { tenant, claim, attempted: NONE })
    this.#schedule()
  }

  #schedule(): void {
    if (this.#waiting.size === 0 || this.#timer !== undefined || this.#isTelling) return
    const { retryMs = RETRY_MS } = this.#options
    this.#timer = setTimeout(() => void this.#tellAll(), retryMs).unref()
  }

  async #tellAll(): Promise<void> {
    this.#timer = undefined
    this.#isTelling = true
    for (let isHeard = true; isHeard && this.#waiting.size > 0; ) {
      isHeard = await this.#tellSome(this.#waiting.oldest(CLAIMS_AT_ONCE))
    }
    this.#isTelling = false
    this.#schedule()
  }

  async #tellSome(some: readonly (readonly [string, Unrecorded])[]): Promise<boolean> {
    const told = await Promise.all(some.map(([name, each]) => this.#tell(name, each)))
    return !told.includes(false)
  }

  /** @returns false if the store was not heard */
  async #tell(name: string, unrecorded: Unrecorded): Promise<boolean> {
    const { tenant, claim, attempted } = unrecorded
    const found = await this.#claim(tenant, claim)
    if (found === null) return false
    if (found.is === 'other') {
      const { value, version } = found.record
      if (hasBytes(attempted, value)) {
        const replaced = await this.#claim(tenant, { ...claim, known: version, as: 'replace' })
        // If it is another one by now, that is looked at next.
        if (replaced === null || replaced.is === 'other') return replaced !== null
      } else if (Buffer.compare(claim.value, value) !== 0) {
        this.#options.onOverruled(claim.key, value)
      }
    }
    // A newer decision may have taken its place meanwhile.
    if (this.#waiting.get(name) === unrecorded) this.#waiting.delete(name)
    this.#attempted.delete(name)
    return true
  }

  /** What is recorded now; `null` if the store was not heard. */
  async #claim(tenant: string, claim: RecordClaim) {
    const answer = await this.#options.store.claims?.claim(tenant, [claim])
    if (answer !== undefined) this.#options.onAnswer?.(answer.ok || !isAway(answer))
    return answer?.ok === true ? answer.records[0]! : null
  }
}

const NONE: readonly Uint8Array[] = []

function hasBytes(all: readonly Uint8Array[], bytes: Uint8Array): boolean {
  return all.some(each => Buffer.compare(each, bytes) === 0)
}

function nameOf(tenant: string, key: string): string {
  return `${key} ${tenant}`
}

/** Values by name, of which the oldest are dropped if there is no room. */
class Recent<Value> {
  readonly #values = new Map<string, Value>()
  readonly #sizeOf: (value: Value) => number
  #bytes = 0

  constructor(sizeOf: (value: Value) => number) {
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#values.size
  }

  get(name: string): Value | undefined {
    return this.#values.get(name)
  }

  set(name: string, value: Value): void {
    this.delete(name)
    this.#values.set(name, value)
    this.#bytes += this.#sizeOf(value)
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= MAX_ENTRIES && this.#bytes <= MAX_BYTES) return
      this.delete(oldest)
    }
  }

  delete(name: string): void {
    const value = this.#values.get(name)
    if (value === undefined) return
    this.#values.delete(name)
    this.#bytes -= this.#sizeOf(value)
  }

  oldest(count: number): readonly (readonly [string, Value])[] {
    const oldest: (readonly [string, Value])[] = []
    for (const entry of this.#values) {
      if (oldest.length === count) break
      oldest.push(entry)
    }
    return oldest
  }
}
