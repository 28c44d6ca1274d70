/** What the queue orders by. */
export interface Queued {
  readonly tenant: string
  /** Work that it will be, by estimate, in microseconds. */
  readonly costUs: number
  /** By `performance.now()`. */
  readonly queuedAt: number
}

/**
 * Jobs in the order in which they get threads: first come, first served within a tenant, and among
 * tenants that wait the same work for each.
 */
export interface FairQueue<T extends Queued> {
  readonly length: number
  /** Work that waits, in microseconds. */
  readonly workUs: number
  push(entry: T): void
  /** Puts back what had its turn and was lost through no fault of its own, ahead of everything. */
  putBack(entries: readonly T[]): void
  peek(): T | undefined
  take(): T | undefined
  /** Tells what a job really took, so that wrong estimates do not add up. */
  charge(entry: T, tookUs: number): void
  /** Entries of this tenant that wait. */
  waitingOf(tenant: string): number
  /** Work ahead of a new job of this tenant if all waiting tenants have their equal part. */
  workAheadUs(tenant: string): number
  /** Takes out all that match; asked for the whole queue, in no order. */
  remove(matches: (entry: T) => boolean): T[]
}

interface Lane<T> {
  entries: T[]
  workUs: number
  /** When all that this tenant was given would be done, in the queue's own time. */
  finish: number
}

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, SIGCOMM 1996): time passes by the work that was given
 * out, and the tenant that is behind goes next. A tenant that was idle saves nothing up.
 */
export function createFairQueue<T extends Queued>(): FairQueue<T> {
  const lanes = new Map<string, Lane<T>>()
  let again: T[] = []
  let length = 0
  let workUs = 0
  let time = 0

  function laneOf(tenant: string): Lane<T> {
    const known = lanes.get(tenant)
    if (known !== undefined) return known
    const lane = { entries: [], workUs: 0, finish: time }
    lanes.set(tenant, lane)
    return lane
  }

  /** As many lanes as there are tenants that wait; mostly one, and at most one a job. */
  function next(): Lane<T> | undefined {
    let best: Lane<T> | undefined
    for (const lane of lanes.values()) {
      if (lane.entries.length === 0) continue
      if (best === undefined || lane.finish < best.finish) best = lane
    }
    return best
  }

  /** Idle tenants whose time has passed start like new ones. */
  function forgetIdle(): void {
    for (const [tenant, lane] of lanes) {
      if (lane.entries.length === 0 && lane.finish <= time) lanes.delete(tenant)
    }
  }

  function took(lane: Lane<T>, entry: T): void {
    lane.workUs -= entry.costUs
    workUs -= entry.costUs
    length--
  }

  return {
    get length() {
      return length
    },
    get workUs() {
      return workUs
    },
    push(entry) {
      const lane = laneOf(entry.tenant)
      if (lane.entries.length === 0) lane.finish = Math.max(lane.finish, time)
      lane.entries.push(entry)
      lane.workUs += entry.costUs
      workUs += entry.costUs
      length++
    },
    putBack(entries) {
      again = [...entries, ...again]
      length += entries.length
    },
    peek: () => again[0] ?? next()?.entries[0],
    take() {
      const first = again.shift()
      if (first !== undefined) {
        length--
        return first
      }
      const lane = next()
      const entry = lane?.entries.shift()
      if (lane === undefined || entry === undefined) return undefined
      // A job that took less than it was charged puts its tenant back, not the time: a newcomer would
      // begin that much ahead of tenants that have had their part.
      time = Math.max(time, lane.finish)
      lane.finish += entry.costUs
      took(lane, entry)
      if (lane.entries.length === 0) forgetIdle()
      return entry
    },
    charge({ tenant, costUs }, tookUs) {
      const lane = lanes.get(tenant)
      if (lane !== undefined) lane.finish += tookUs - costUs
    },
    waitingOf: tenant => lanes.get(tenant)?.entries.length ?? 0,
    workAheadUs(tenant) {
      const own = lanes.get(tenant)?.workUs ?? 0
      let ahead = own
      for (const [name, lane] of lanes) if (name !== tenant) ahead += Math.min(lane.workUs, own)
      return ahead
    },
    remove(matches) {
      const removed = again.filter(matches)
      again = again.filter(entry => !matches(entry))
      length -= removed.length
      for (const lane of lanes.values()) {
        const out = lane.entries.filter(matches)
        if (out.length === 0) continue
        lane.entries = lane.entries.filter(entry => !out.includes(entry))
        for (const entry of out) took(lane, entry)
        removed.push(...out)
      }
      return removed
    },
  }
}
