import type { FairQueue, Kind } from '../core/base/fair-queue.ts'
import type { Entry } from './entry.ts'
import { type AtWork, isOverdue, type Slot, type Slots } from './slots.ts'

export interface LanesOptions {
  readonly slots: Slots
  readonly waiting: FairQueue<Entry>
  /** Jobs that run at once, without the kept thread. */
  readonly width: number
  /** All threads. */
  readonly threads: number
  /** Whether it is known what such jobs take. */
  isKnown(entry: AtWork): boolean
  /** What a job may be made to wait, in milliseconds. */
  maxWaitMs(): number
  /** What any job may take, in milliseconds. */
  jobTimeoutMs(): number
  /**
   * Whether the jobs of a batch could start again: those whose bodies went to the thread cannot.
   */
  canRepeat(slot: Slot): boolean
}

/** A tenant counts as using the service for this long after its last job came, in milliseconds. */
const IN_USE_MS = 60_000

/**
 * Which jobs may have a thread now, and how long others wait.
 *
 * Keeps threads free for short jobs. There is one thread more than jobs that run at once (`width`).
 * It goes to the kind of which no job runs. So short jobs always have a thread, and long jobs too.
 *
 * Estimates may be wrong. If nothing is known about a tenant's jobs, one of them runs at a time, on
 * a thread of the long jobs. It ends soon, or shows that such jobs are long. A short job that runs
 * long counts as long from then on. If it then still delays short jobs of other tenants, its thread
 * is taken back, and it starts again as a long job.
 *
 * As long as others use the service, one tenant never gets all threads of the long jobs, if its
 * jobs take longer than others may be made to wait. Wrong estimates may let it get all of them. If
 * long jobs of others then wait, one thread is taken back.
 */
export class Lanes {
  readonly #options: LanesOptions
  readonly #slots: Slots
  readonly #waiting: FairQueue<Entry>
  readonly #width: number
  /** Threads that one tenant may have with heavy jobs while others use the service. */
  readonly #part: number
  /** The tenant that came last, and the last one before that is another. */
  #latest = { tenant: '', at: Number.NEGATIVE_INFINITY }
  #other = this.#latest

  constructor(options: LanesOptions) {
    this.#options = options
    this.#slots = options.slots
    this.#waiting = options.waiting
    this.#width = options.width
    this.#part = Math.max(1, options.width - 1)
  }

  /** Threads on which jobs of this kind could begin now. */
  free(kind: Kind): number {
    const { size } = this.#slots.inUse
    const normal = this.#width - size
    if (normal > 0) return normal
    return size < this.#options.threads && this.#runningOf(kind) === 0 ? 1 : 0
  }

  /** Whether a waiting job may have one of them. */
  mayBegin(entry: Entry): boolean {
    if (this.#hasItsPart(entry)) return false
    if (entry.kind === 'long' || this.#options.isKnown(entry)) return this.free(entry.kind) > 0
    return this.#mayTry(entry)
  }

  /** Notes that a tenant uses the service, by `performance.now()`. */
  see(tenant: string, at: number): void {
    if (this.#latest.tenant !== tenant) this.#other = this.#latest
    this.#latest = { tenant, at }
  }

  /** Milliseconds that one more job of the tenant would wait for a thread, by estimate. */
  waitMs(job: Pick<Entry, 'tenant' | 'kind'>): number {
    const { tenant, kind } = job
    const own = this.#waiting.waitingOf(tenant, kind)
    const width = this.#width
    const longs = [...this.#slots.inUse].filter(slot => slot.kind === 'long' || isOverdue(slot))
    const share = kind === 'long' ? width : Math.max(1, width - longs.length)
    // The next free threads are for them, so a few waiting jobs are not an overload.
    const queueMs = own < share ? 0 : this.#waiting.workAheadUs(tenant, kind) / 1000 / share
    if (kind === 'short') return queueMs
    if (this.#hasItsPart(job)) return this.#nextFreeMs(this.#heavyOf(tenant)) + queueMs
    return this.free('long') > 0 ? queueMs : this.#nextFreeMs(this.#slots.inUse) + queueMs
  }

  /** Batches whose threads must be taken back, because jobs of other tenants wait for them. */
  inTheWay(): Slot[] {
    const overdue = [...this.#slots.inUse].filter(isOverdue).sort((a, b) => a.ranMs - b.ranMs)
    const stuck = overdue.filter(slot => {
      const { tenant } = currentOf(slot)
      return slot.entries.slice(slot.current() + 1).some(next => next.tenant !== tenant)
    })
    if (stuck.length > 0) return stuck
    const hasRoom = this.free('short') > 0 || this.#runningOf('short') > 0
    const held = hasRoom ? undefined : overdue.find(slot => this.#isHeld(slot))
    const taken = held ?? this.#beyondItsPart()
    return taken === undefined ? [] : [taken]
  }

  #runningOf(kind: Kind): number {
    let count = 0
    for (const slot of this.#slots.inUse) if (slot.isLong === (kind === 'long')) count++
    return count
  }

  /** Threads on which a tenant has heavy jobs: longer than others may be made to wait. */
  #heavyOf(tenant: string): Slot[] {
    return [...this.#slots.inUse].filter(slot => {
      const job = currentOf(slot)
      if (job.tenant !== tenant) return false
      // It is unknown how long a job continues that was estimated as short.
      if (isOverdue(slot)) return true
      return Math.max(job.costUs / 1000, slot.ranMs) > this.#options.maxWaitMs()
    })
  }

  #hasItsPart({ tenant, kind }: Pick<Entry, 'tenant' | 'kind'>): boolean {
    return kind === 'long' && this.#heavyOf(tenant).length >= this.#part && this.#othersUse(tenant)
  }

  /**
   * The batch that has run for the shortest time, of a tenant that has more than its part while
   * long jobs of others wait. The estimates of its jobs were too low.
   */
  #beyondItsPart(): Slot | undefined {
    const waiting = this.#waiting
    if (waiting.lengthOf('long') === 0 || this.free('long') > 0) return undefined
    for (const { tenant } of new Set([...this.#slots.inUse].map(currentOf))) {
      const heavy = this.#heavyOf(tenant)
      const othersWait = waiting.lengthOf('long') > waiting.waitingOf(tenant, 'long')
      if (heavy.length <= this.#part || !othersWait) continue
      const [least] = heavy.filter(this.#options.canRepeat).sort((a, b) => a.ranMs - b.ranMs)
      if (least !== undefined) return least
    }
    return undefined
  }

  /**
   * Whether a job of which nothing is known may begin. It takes a thread of the long jobs. If those
   * are busy, it may have the one for short jobs, unless its tenant has a job on a thread already.
   */
  #mayTry({ tenant }: Entry): boolean {
    const { isKnown } = this.#options
    let hasJobs = false
    for (const { entries } of this.#slots.inUse) {
      const own = entries.filter(each => each.tenant === tenant)
      // Another job must first show how long such jobs take.
      if (own.some(each => !isKnown(each))) return false
      hasJobs ||= own.length > 0
    }
    return this.free('long') > 0 || (!hasJobs && this.free('short') > 0)
  }

  #othersUse(tenant: string): boolean {
    const { at } = this.#latest.tenant === tenant ? this.#other : this.#latest
    return performance.now() - at < IN_USE_MS
  }

  /** Whether short jobs of other tenants wait. */
  #isHeld(slot: Slot): boolean {
    const { tenant } = currentOf(slot)
    return this.#waiting.lengthOf('short') > this.#waiting.waitingOf(tenant, 'short')
  }

  #nextFreeMs(slots: Iterable<Slot>): number {
    let least = Infinity
    for (const slot of slots) least = Math.min(least, this.#remainingMs(slot))
    return least
  }

  /**
   * The remaining time by estimate. A job that has run for its estimate is expected to take as long
   * again.
   */
  #remainingMs(slot: Slot): number {
    const expectedMs = currentOf(slot).costUs / 1000
    const { ranMs } = slot
    const restMs = ranMs < expectedMs ? expectedMs - ranMs : ranMs
    return Math.max(0, Math.min(restMs, this.#options.jobTimeoutMs() - ranMs))
  }
}

function currentOf(slot: Slot) {
  return slot.entries[Math.max(0, slot.current())] as Slot['entries'][number]
}
