/** Jobs that are short by estimate, and the others. Neither waits for the other. */
export type Kind = 'short' | 'long'

/** The fields that the queue orders by. */
export interface Queued {
  readonly tenant: string
  /** Absent: short. */
  readonly kind?: Kind
  /** Work that it will be, by estimate, in microseconds. */
  readonly costUs: number
  /** By `performance.now()`. */
  readonly queuedAt: number
}

/** Whether an entry may go next, or should. */
export type Eligible<T> = (entry: T) => boolean

/** Entries of one kind, the oldest first. */
interface Line<T> {
  entries: T[]
  workUs: number
  /** How often others went before the oldest one. */
  passed: number
}

interface Lane<T> {
  readonly short: Line<T>
  readonly long: Line<T>
  /** The queue's own time at which the work given out for this tenant would be done. */
  finish: number
}

/** An entry with its place. */
interface FoundJob<T> {
  readonly entry: T
  /** Absent for what was put back. */
  readonly lane?: Lane<T>
}

const ANY = () => true
const NONE = () => false

/** A preferred entry may go first if it is among so many of the oldest of a line. */
const PREFERRED_AMONG = 8
/** The oldest entry of a line is passed over at most this often. */
const MAX_PASSED = 8

/**
 * Jobs in the order in which they get threads: first come, first served within a tenant and a kind,
 * and among tenants that wait the same work for each. One of the first entries of a tenant and kind
 * that is preferred may go before others of them, but so many times in a row only.
 *
 * Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): time passes by the work that was
 * given out, and the tenant that had the least goes next. An idle tenant gains no credit.
 */
export class FairQueue<T extends Queued> {
  readonly #lanes = new Map<string, Lane<T>>()
  readonly #lengths = { short: 0, long: 0 }
  #again: T[] = []
  #workUs = 0
  #time = 0
  /** Lanes that became empty since idle ones were last looked for. */
  #emptied = 0

  get length(): number {
    return this.#lengths.short + this.#lengths.long
  }

  /** Work that waits, in microseconds. */
  get workUs(): number {
    return this.#workUs
  }

  /** Entries of a kind that wait. */
  lengthOf(kind: Kind): number {
    return this.#lengths[kind]
  }

  push(entry: T): void {
    const { kind = 'short' } = entry
    const lane = this.#laneOf(entry.tenant)
    if (this.#isEmpty(lane)) lane.finish = Math.max(lane.finish, this.#time)
    const line = lane[kind]
    line.entries.push(entry)
    line.workUs += entry.costUs
    this.#workUs += entry.costUs
    this.#lengths[kind]++
  }

  /** Puts back entries that had their turn and were lost without fault, ahead of everything. */
  putBack(entries: readonly T[]): void {
    this.#again = [...entries, ...this.#again]
    for (const { kind = 'short' } of entries) this.#lengths[kind]++
  }

  /** The next entry; the oldest of each kind and tenant is asked whether it may go. */
  peek(isEligible: Eligible<T> = ANY, isPreferred: Eligible<T> = NONE): T | undefined {
    return this.#next(isEligible, isPreferred)?.entry
  }

  take(isEligible: Eligible<T> = ANY, isPreferred: Eligible<T> = NONE): T | undefined {
    const found = this.#next(isEligible, isPreferred)
    if (found === undefined) return undefined
    const { entry, lane } = found
    const { kind = 'short' } = entry
    if (lane === undefined) {
      this.#again.splice(this.#again.indexOf(entry), 1)
      this.#lengths[kind]--
      return entry
    }
    const line = lane[kind]
    const place = line.entries.indexOf(entry)
    line.passed = place === 0 ? 0 : line.passed + 1
    if (place === 0) line.entries.shift()
    else line.entries.splice(place, 1)
    // If a job took less than it was charged, the tenant's time goes back, but not the queue's.
    // Otherwise a newcomer would begin ahead of tenants that have had their part.
    this.#time = Math.max(this.#time, lane.finish)
    lane.finish += entry.costUs
    this.#countOut(line, entry)
    if (this.#isEmpty(lane)) this.#forgetIdle()
    return entry
  }

  /** Reports what a job really took, so that wrong estimates do not add up. */
  charge({ tenant, costUs }: T, tookUs: number): void {
    const lane = this.#lanes.get(tenant)
    if (lane !== undefined) lane.finish += tookUs - costUs
  }

  /** Entries of this tenant and kind that wait. */
  waitingOf(tenant: string, kind: Kind = 'short'): number {
    return this.#lanes.get(tenant)?.[kind].entries.length ?? 0
  }

  /**
   * Work of a kind ahead of a new job of this tenant if all waiting tenants have their equal part.
   */
  workAheadUs(tenant: string, kind: Kind = 'short'): number {
    const own = this.#lanes.get(tenant)?.[kind].workUs ?? 0
    let ahead = own
    for (const [name, lane] of this.#lanes) {
      if (name !== tenant) ahead += Math.min(lane[kind].workUs, own)
    }
    return ahead
  }

  /** Takes out all that match; asked for the whole queue, in no order. */
  remove(matches: (entry: T) => boolean): T[] {
    const removed = this.#again.filter(matches)
    if (removed.length > 0) this.#again = this.#again.filter(entry => !removed.includes(entry))
    for (const { kind = 'short' } of removed) this.#lengths[kind]--
    for (const { short, long } of this.#lanes.values()) {
      for (const line of [short, long]) {
        const { true: out, false: rest = [] } = Object.groupBy(line.entries, entry =>
          matches(entry) ? 'true' : 'false',
        )
        if (out === undefined) continue
        line.entries = rest
        for (const entry of out) this.#countOut(line, entry)
        for (const item of out) removed.push(item)
      }
    }
    return removed
  }

  #laneOf(tenant: string): Lane<T> {
    const known = this.#lanes.get(tenant)
    if (known !== undefined) return known
    const line = () => ({ entries: [], workUs: 0, passed: 0 })
    const lane = { short: line(), long: line(), finish: this.#time }
    this.#lanes.set(tenant, lane)
    return lane
  }

  /** The older of a tenant's first entries that may go. */
  #headOf(
    { short, long }: Lane<T>,
    isEligible: Eligible<T>,
    isPreferred: Eligible<T>,
  ): T | undefined {
    const [a, b] = [short, long]
      .map(line => firstOf(line, isEligible, isPreferred))
      .filter(entry => entry !== undefined)
    return a === undefined || b === undefined || a.queuedAt <= b.queuedAt ? a : b
  }

  /** As many lanes as there are tenants that wait; mostly one, and at most one a job. */
  #next(isEligible: Eligible<T>, isPreferred: Eligible<T>): FoundJob<T> | undefined {
    const back = this.#again.find(isEligible)
    if (back !== undefined) return { entry: back }
    let best: FoundJob<T> | undefined
    let finish = Number.POSITIVE_INFINITY
    for (const lane of this.#lanes.values()) {
      if (lane.finish >= finish) continue
      const entry = this.#headOf(lane, isEligible, isPreferred)
      if (entry === undefined) continue
      best = { entry, lane }
      finish = lane.finish
    }
    return best
  }

  /** Idle tenants whose time has passed start like new ones. */
  #forgetIdle(): void {
    if (++this.#emptied < this.#lanes.size / 2) return
    this.#emptied = 0
    for (const [tenant, lane] of this.#lanes) {
      if (this.#isEmpty(lane) && lane.finish <= this.#time) this.#lanes.delete(tenant)
    }
  }

  /** Takes an entry that left its line out of the sums. */
  #countOut(line: Line<T>, { kind = 'short', costUs }: T): void {
    line.workUs -= costUs
    this.#workUs -= costUs
    this.#lengths[kind]--
  }

  #isEmpty({ short, long }: Lane<T>): boolean {
    return short.entries.length + long.entries.length === 0
  }
}

/** The entry of a line that goes first, if its oldest one may go. */
function firstOf<T>(
  { entries, passed }: Line<T>,
  isEligible: Eligible<T>,
  isPreferred: Eligible<T>,
): T | undefined {
  const [oldest] = entries
  if (oldest === undefined || !isEligible(oldest)) return undefined
  if (isPreferred === NONE || passed >= MAX_PASSED) return oldest
  for (let place = 0; place < entries.length && place < PREFERRED_AMONG; place++) {
    const entry = entries[place]!
    if (isPreferred(entry) && isEligible(entry)) return entry
  }
  return oldest
}
