/** Jobs that are short by estimate, and the others. Neither waits for the other. */
export type Kind = 'short' | 'long'

/** What the queue orders by. */
export interface Queued {
  readonly tenant: string
  /** Absent: short. */
  readonly kind?: Kind
  /** Work that it will be, by estimate, in microseconds. */
  readonly costUs: number
  /** By `performance.now()`. */
  readonly queuedAt: number
}

/** Whether an entry may go next. */
export type Eligible<T> = (entry: T) => boolean

/**
 * Jobs in the order in which they get threads: first come, first served within a tenant and a kind,
 * and among tenants that wait the same work for each.
 */
export interface FairQueue<T extends Queued> {
  readonly length: number
  /** Work that waits, in microseconds. */
  readonly workUs: number
  /** Entries of a kind that wait. */
  lengthOf(kind: Kind): number
  push(entry: T): void
  /** Puts back what had its turn and was lost through no fault of its own, ahead of everything. */
  putBack(entries: readonly T[]): void
  /** The next entry; the oldest of each kind and tenant is asked whether it may go. */
  peek(isEligible?: Eligible<T>): T | undefined
  take(isEligible?: Eligible<T>): T | undefined
  /** Tells what a job really took, so that wrong estimates do not add up. */
  charge(entry: T, tookUs: number): void
  /** Entries of this tenant and kind that wait. */
  waitingOf(tenant: string, kind?: Kind): number
  /**
   * Work of a kind ahead of a new job of this tenant if all waiting tenants have their equal part.
   */
  workAheadUs(tenant: string, kind?: Kind): number
  /** Takes out all that match; asked for the whole queue, in no order. */
  remove(matches: (entry: T) => boolean): T[]
}

/** Entries of one kind, the oldest first. */
interface Line<T> {
  entries: T[]
  workUs: number
}

interface Lane<T> {
  readonly short: Line<T>
  readonly long: Line<T>
  /** When all that this tenant was given would be done, in the queue's own time. */
  finish: number
}

/** An entry with its place. */
interface Found<T> {
  readonly entry: T
  /** Absent for what was put back. */
  readonly lane?: Lane<T>
}

const ANY = () => true

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): time passes by the work that was
 * given out, and the tenant that is behind goes next. A tenant that was idle saves nothing up.
 */
export function createFairQueue<T extends Queued>(): FairQueue<T> {
  const lanes = new Map<string, Lane<T>>()
  const lengths = { short: 0, long: 0 }
  let again: T[] = []
  let workUs = 0
  let time = 0
  /** Lanes that became empty since idle ones were last looked for. */
  let emptied = 0

  function laneOf(tenant: string): Lane<T> {
    const known = lanes.get(tenant)
    if (known !== undefined) return known
    const line = () => ({ entries: [], workUs: 0 })
    const lane = { short: line(), long: line(), finish: time }
    lanes.set(tenant, lane)
    return lane
  }

  /** The older of a tenant's first entries that may go. */
  function headOf({ short, long }: Lane<T>, isEligible: Eligible<T>): T | undefined {
    const [a, b] = [short.entries[0], long.entries[0]].filter(
      entry => entry !== undefined && isEligible(entry),
    )
    return a === undefined || b === undefined || a.queuedAt <= b.queuedAt ? a : b
  }

  /** As many lanes as there are tenants that wait; mostly one, and at most one a job. */
  function next(isEligible: Eligible<T>): Found<T> | undefined {
    const back = again.find(isEligible)
    if (back !== undefined) return { entry: back }
    let best: Found<T> | undefined
    let finish = Number.POSITIVE_INFINITY
    for (const lane of lanes.values()) {
      if (lane.finish >= finish) continue
      const entry = headOf(lane, isEligible)
      if (entry === undefined) continue
      best = { entry, lane }
      finish = lane.finish
    }
    return best
  }

  /** Idle tenants whose time has passed start like new ones. */
  function forgetIdle(): void {
    if (++emptied < lanes.size / 2) return
    emptied = 0
    for (const [tenant, lane] of lanes) {
      if (isEmpty(lane) && lane.finish <= time) lanes.delete(tenant)
    }
  }

  function took(line: Line<T>, { kind = 'short', costUs }: T): void {
    line.workUs -= costUs
    workUs -= costUs
    lengths[kind]--
  }

  function isEmpty({ short, long }: Lane<T>): boolean {
    return short.entries.length + long.entries.length === 0
  }

  return {
    get length() {
      return lengths.short + lengths.long
    },
    get workUs() {
      return workUs
    },
    lengthOf: kind => lengths[kind],
    push(entry) {
      const { kind = 'short' } = entry
      const lane = laneOf(entry.tenant)
      if (isEmpty(lane)) lane.finish = Math.max(lane.finish, time)
      const line = lane[kind]
      line.entries.push(entry)
      line.workUs += entry.costUs
      workUs += entry.costUs
      lengths[kind]++
    },
    putBack(entries) {
      again = [...entries, ...again]
      for (const { kind = 'short' } of entries) lengths[kind]++
    },
    peek: (isEligible = ANY) => next(isEligible)?.entry,
    take(isEligible = ANY) {
      const found = next(isEligible)
      if (found === undefined) return undefined
      const { entry, lane } = found
      const { kind = 'short' } = entry
      if (lane === undefined) {
        again.splice(again.indexOf(entry), 1)
        lengths[kind]--
        return entry
      }
      const line = lane[kind]
      line.entries.shift()
      // A job that took less than it was charged puts its tenant back, not the time: a newcomer
      // would begin that much ahead of tenants that have had their part.
      time = Math.max(time, lane.finish)
      lane.finish += entry.costUs
      took(line, entry)
      if (isEmpty(lane)) forgetIdle()
      return entry
    },
    charge({ tenant, costUs }, tookUs) {
      const lane = lanes.get(tenant)
      if (lane !== undefined) lane.finish += tookUs - costUs
    },
    waitingOf: (tenant, kind = 'short') => lanes.get(tenant)?.[kind].entries.length ?? 0,
    workAheadUs(tenant, kind = 'short') {
      const own = lanes.get(tenant)?.[kind].workUs ?? 0
      let ahead = own
      for (const [name, lane] of lanes) {
        if (name !== tenant) ahead += Math.min(lane[kind].workUs, own)
      }
      return ahead
    },
    remove(matches) {
      const removed = again.filter(matches)
      if (removed.length > 0) again = again.filter(entry => !removed.includes(entry))
      for (const { kind = 'short' } of removed) lengths[kind]--
      for (const { short, long } of lanes.values()) {
        for (const line of [short, long]) {
          const { true: out, false: rest = [] } = Object.groupBy(line.entries, entry =>
            matches(entry) ? 'true' : 'false',
          )
          if (out === undefined) continue
          line.entries = rest
          for (const entry of out) took(line, entry)
          removed.push(...out)
        }
      }
      return removed
    },
  }
}
