import { AppError } from '../errors.ts'

/** Bounds of everything that is being read, waits or runs. */
export interface AdmissionLimits {
  readonly maxJobs: number
  /** Request bodies, and answers that are not read yet, in bytes. */
  readonly maxBytes: number
}

/** A place in the service; to be left exactly once, more often does no harm. */
export interface Ticket {
  /** Claims bytes that arrived. Throws `AppError` `overloaded`. */
  grow(bytes: number): void
  /** Counts bytes that are held already, such as an answer that its client has not read. */
  add(bytes: number): void
  leave(): void
}

export interface Admission {
  /**
   * Claims a place before the body is read, if `announced` bytes would fit by now. They are claimed as they
   * arrive: a client that announces much and sends nothing must not keep others out.
   * @throws AppError `overloaded`
   */
  enter(announced: number): Ticket
  readonly jobs: number
  readonly bytes: number
}

/** Seconds after which a refused client may try again. */
const RETRY_AFTER_S = 1

/** The bounded queue's door: refuses early what would only wait (promise 5). */
export function createAdmission(limits: AdmissionLimits): Admission {
  let jobs = 0
  let bytes = 0

  const check = (more: number) => {
    if (bytes + more > limits.maxBytes) throw overloaded('the queue is full (bytes)')
  }

  return {
    get jobs() {
      return jobs
    },
    get bytes() {
      return bytes
    },
    enter(announced) {
      if (jobs >= limits.maxJobs) throw overloaded('the queue is full (jobs)')
      check(announced)
      jobs++
      let held = 0
      let left = false
      return {
        grow(more) {
          check(more)
          bytes += more
          held += more
        },
        add(more) {
          bytes += more
          held += more
        },
        leave() {
          if (left) return
          left = true
          jobs--
          bytes -= held
        },
      }
    },
  }
}

function overloaded(detail: string): AppError {
  return new AppError('overloaded', detail, { retry_after_s: RETRY_AFTER_S })
}
