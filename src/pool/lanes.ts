import type { FairQueue, Kind } from '../core/base/fair-queue.ts'
import type { Entry } from './entry.ts'
import { type AtWork, SHORT_MS, type Slot, type Slots } from './slots.ts'

/** Which jobs may have a thread now, and how long others wait. */
export interface Lanes {
  /** Threads on which jobs of this kind could begin now. */
  free(kind: Kind): number
  /** Whether a waiting job may have one of them. */
  mayBegin(entry: Entry): boolean
  /** Notes that a tenant uses the service, by `performance.now()`. */
  see(tenant: string, now: number): void
  /** Milliseconds that one more job of the tenant would wait for a thread, by estimate. */
  waitMs(job: Pick<Entry, 'tenant' | 'kind'>): number
  /** Batches to be taken off their threads, because jobs of other tenants wait for them. */
  inTheWay(): Slot[]
}

export interface LanesOptions {
  readonly slots: Slots
  readonly waiting: FairQueue<Entry>
  /** Jobs that run at once, but for the kept thread. */
  readonly width: number
  /** All threads. */
  readonly threads: number
  /** Whether it is known what such jobs take. */
  isKnown(entry: AtWork): boolean
  /** What a job may be made to wait, in milliseconds. */
  maxWaitMs(): number
  /** What any job may take, in milliseconds. */
  jobTimeoutMs(): number
  /** Whether the jobs of a batch could start again: those whose bodies went to the thread cannot. */
  canRepeat(slot: Slot): boolean
}

/** A tenant counts as using the service for this long after its last job came, in milliseconds. */
const IN_USE_MS = 60_000

/**
 * Keeps threads from long jobs. There is a thread more than jobs that run at once (`width`); it
 * goes to a kind of which nothing runs. So short jobs always have a thread, and long ones too.
 *
 * Estimates may be wrong. Of a tenant's jobs of which nothing is known, one runs at a time: it ends
 * soon, or shows that such jobs are long. A short job that runs long counts as long from then on.
 * If it still is in the way of other tenants' short jobs, its thread is taken back, and it starts
 * again as a long job.
 *
 * One tenant never has all threads of the long jobs with jobs that take longer than others may be
 * made to wait, as long as others use the service. If it has them all the same, since nobody knew,
 * and long jobs of others wait, one thread is taken back.
 */
export function createLanes(options: LanesOptions): Lanes {
  const { slots, waiting, width, threads, maxWaitMs } = options
  /** The tenant that came last, and the last one before that is another. */
  let latest = { tenant: '', at: Number.NEGATIVE_INFINITY }
  let other = latest

  function runningOf(kind: Kind): number {
    let count = 0
    for (const slot of slots.inUse) if (slot.isLong === (kind === 'long')) count++
    return count
  }

  function free(kind: Kind): number {
    const normal = width - slots.inUse.size
    if (normal > 0) return normal
    return slots.inUse.size < threads && runningOf(kind) === 0 ? 1 : 0
  }

  /** Threads on which a tenant has jobs that take longer than others may be made to wait. */
  function heavyOf(tenant: string): Slot[] {
    return [...slots.inUse].filter(slot => {
      const job = currentOf(slot)
      if (job.tenant !== tenant) return false
      // Nobody knows how long a job will go on that was taken for short.
      return isOverdue(slot) || Math.max(job.costUs / 1000, slot.ranMs) > maxWaitMs()
    })
  }

  /** Threads that one tenant may have with such jobs while others use the service. */
  const part = Math.max(1, width - 1)

  function hasItsPart({ tenant, kind }: Pick<Entry, 'tenant' | 'kind'>): boolean {
    return kind === 'long' && heavyOf(tenant).length >= part && othersUse(tenant)
  }

  /**
   * The batch that ran least, of a tenant that has more than its part while long jobs of others
   * wait: its jobs were taken for quicker ones.
   */
  function beyondItsPart(): Slot | undefined {
    if (waiting.lengthOf('long') === 0 || free('long') > 0) return undefined
    for (const { tenant } of new Set([...slots.inUse].map(currentOf))) {
      const heavy = heavyOf(tenant)
      const othersWait = waiting.lengthOf('long') > waiting.waitingOf(tenant, 'long')
      if (heavy.length <= part || !othersWait) continue
      const [least] = heavy.filter(options.canRepeat).sort((a, b) => a.ranMs - b.ranMs)
      if (least !== undefined) return least
    }
    return undefined
  }

  /** Whether another job of its tenant is to show first what such jobs take. */
  function awaitsTrial(entry: Entry): boolean {
    if (entry.kind === 'long' || options.isKnown(entry)) return false
    for (const { entries } of slots.inUse) {
      if (entries.some(each => each.tenant === entry.tenant && !options.isKnown(each))) return true
    }
    return false
  }

  function othersUse(tenant: string): boolean {
    const { at } = latest.tenant === tenant ? other : latest
    return performance.now() - at < IN_USE_MS
  }

  /** By estimate; a job that took its estimate already is expected to take as long again. */
  function remainingMs(slot: Slot): number {
    const expectedMs = currentOf(slot).costUs / 1000
    const { ranMs } = slot
    const restMs = ranMs < expectedMs ? expectedMs - ranMs : ranMs
    return Math.max(0, Math.min(restMs, options.jobTimeoutMs() - ranMs))
  }

  /** Whether short jobs of other tenants wait. */
  function isHeld(slot: Slot): boolean {
    const { tenant } = currentOf(slot)
    return waiting.lengthOf('short') > waiting.waitingOf(tenant, 'short')
  }

  function nextFreeMs(of: Iterable<Slot>): number {
    return Math.min(...Array.from(of, remainingMs))
  }

  return {
    free,
    mayBegin: entry => free(entry.kind) > 0 && !hasItsPart(entry) && !awaitsTrial(entry),
    see(tenant, at) {
      if (latest.tenant !== tenant) other = latest
      latest = { tenant, at }
    },
    waitMs(job) {
      const { tenant, kind } = job
      const own = waiting.waitingOf(tenant, kind)
      const share = kind === 'long' ? width : Math.max(1, width - runningOf('long'))
      // The next free threads are theirs; that a few jobs wait is no overload.
      const queueMs = own < share ? 0 : waiting.workAheadUs(tenant, kind) / 1000 / share
      if (kind === 'short') return queueMs
      if (hasItsPart(job)) return nextFreeMs(heavyOf(tenant)) + queueMs
      return free('long') > 0 ? queueMs : nextFreeMs(slots.inUse) + queueMs
    },
    inTheWay() {
      const overdue = [...slots.inUse].filter(isOverdue).sort((a, b) => a.ranMs - b.ranMs)
      const stuck = overdue.filter(slot => {
        const { tenant } = currentOf(slot)
        return slot.entries.slice(slot.current() + 1).some(next => next.tenant !== tenant)
      })
      if (stuck.length > 0) return stuck
      const held = free('short') > 0 || runningOf('short') > 0 ? undefined : overdue.find(isHeld)
      const taken = held ?? beyondItsPart()
      return taken === undefined ? [] : [taken]
    },
  }
}

/** Whether a job that was taken for short runs long. */
function isOverdue({ kind, isLong, ranMs }: Slot): boolean {
  return kind === 'short' && isLong && ranMs > SHORT_MS
}

function currentOf(slot: Slot) {
  return slot.entries[Math.max(0, slot.current())] as Slot['entries'][number]
}
