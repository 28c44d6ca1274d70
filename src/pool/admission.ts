import { AppError } from '../core/base/errors.ts'
import type { SharedPlaces } from '../core/base/shared-rates.ts'

/** Bounds of everything that is being read, waits or runs. */
export interface AdmissionLimits {
  readonly maxJobs: number
  /** Request bodies, and answers that are not read yet, in bytes. */
  readonly maxBytes: number
  /** Longest expected time in the queue, in milliseconds. */
  readonly maxWaitMs: number
}

/** For whom a place is claimed. */
export interface Holder {
  readonly tenant: string
  readonly keyId: string
  readonly maxConcurrent: number
  /** Bounds them for all processes together; absent: there is one process. */
  readonly shared?: SharedPlaces
}

/** A place in the service. Its holder must leave it once; leaving it again has no effect. */
export interface Ticket {
  /** Claims bytes that arrived. Throws `AppError` `overloaded` or `rate_limited`. */
  grow(bytes: number): void
  /** Counts bytes that are held already, such as an answer that its client has not read. */
  add(bytes: number): void
  leave(): void
}

export interface Admission {
  /**
   * Claims a place before the body is read, if `announced` bytes would fit now. Bytes are claimed
   * as they arrive, because a client that announces much and sends nothing must not keep others
   * out.
   * @param op the operation that a thread runs on the body; absent: no thread is needed
   * @param patienceMs how long it may wait for one at least, whatever the limit of others is
   * @throws AppError `overloaded` if the service is full, `rate_limited` if only this caller's part
   * is
   */
  enter(holder: Holder, announced: number, op?: string, patienceMs?: number): Ticket
  readonly jobs: number
  readonly bytes: number
}

/** What is known of a job before its body is read. */
interface Arriving {
  readonly tenant: string
  readonly op: string
  readonly bytes: number
}

const NO_JOB = { op: '', bytes: 0 } as const

export interface AdmissionOptions {
  /** Asked each time, because a reload may change them. */
  limits(): AdmissionLimits
  /** Milliseconds that such a job would wait for a thread, by estimate. */
  waitMs(job: Arriving): number
  /** How many tenants there may be. A single tenant may take all places. */
  tenants(): number
}

/** What one tenant, or one key, holds. */
interface Held {
  jobs: number
  bytes: number
}

/**
 * The admission to the bounded queue: it refuses early what would only wait (promise 5).
 *
 * Among several tenants each may hold as much as is still free. One tenant alone gets half, two get
 * a third each. So there is always room for a newcomer, and no part is reserved (dynamic thresholds
 * with α = 1: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6 (2), 1998).
 */
export function createAdmission({ limits, waitMs, tenants }: AdmissionOptions): Admission {
  const all: Held = { jobs: 0, bytes: 0 }
  const byTenant = new Map<string, Held>()
  const byKey = new Map<string, number>()

  function checkJobs(
    holder: Holder,
    held: Held,
    job: Omit<Arriving, 'tenant'>,
    patienceMs: number,
  ): void {
    const { maxJobs, maxWaitMs } = limits()
    if (all.jobs >= maxJobs) throw overloaded('the queue is full (jobs)', 1)
    if (tenants() > 1 && held.jobs > 0 && held.jobs >= maxJobs - all.jobs) throw overShare()
    const wait = waitMs({ tenant: holder.tenant, ...job })
    if (wait > Math.max(maxWaitMs, patienceMs)) {
      throw overloaded('the queue is too long', Math.ceil(wait / 1000))
    }
    const running = byKey.get(holder.keyId) ?? 0
    if (running >= holder.maxConcurrent || running >= (holder.shared?.most(running) ?? Infinity)) {
      throw new AppError('rate_limited', 'the key has too many requests at once', {
        retry_after_s: 1,
      })
    }
  }

  function checkBytes(held: Held, more: number): void {
    const free = limits().maxBytes - all.bytes
    if (more > free) throw overloaded('the queue is full (bytes)', 1)
    // A tenant's only body may have any size, because otherwise a large one would never fit.
    if (tenants() > 1 && held.jobs > 1 && held.bytes + more > free) throw overShare()
  }

  return {
    get jobs() {
      return all.jobs
    },
    get bytes() {
      return all.bytes
    },
    enter(holder, announced, op, patienceMs = 0) {
      const { tenant, keyId } = holder
      const held = byTenant.get(tenant) ?? { jobs: 0, bytes: 0 }
      const job = op === undefined ? NO_JOB : { op, bytes: announced }
      checkJobs(holder, held, job, patienceMs)
      held.jobs++
      try {
        checkBytes(held, announced)
      } catch (error) {
        held.jobs--
        throw error
      }
      all.jobs++
      byTenant.set(tenant, held)
      const running = (byKey.get(keyId) ?? 0) + 1
      byKey.set(keyId, running)
      holder.shared?.note(running)
      let own = 0
      let left = false
      const add = (more: number) => {
        all.bytes += more
        held.bytes += more
        own += more
      }
      return {
        grow(more) {
          checkBytes(held, more)
          add(more)
        },
        add,
        leave() {
          if (left) return
          left = true
          add(-own)
          all.jobs--
          held.jobs--
          if (held.jobs === 0) byTenant.delete(tenant)
          const rest = (byKey.get(keyId) ?? 1) - 1
          if (rest === 0) byKey.delete(keyId)
          else byKey.set(keyId, rest)
          holder.shared?.note(rest)
        },
      }
    },
  }
}

function overloaded(detail: string, retryAfterS: number): AppError {
  return new AppError('overloaded', detail, { retry_after_s: retryAfterS })
}

function overShare(): AppError {
  return new AppError('rate_limited', 'this tenant has its share of the queue', {
    retry_after_s: 1,
  })
}
