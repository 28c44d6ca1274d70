import type { RequestPlan } from '../support/load-client.ts'
import type { Times } from '../support/statistics.ts'

/**
 * An open-loop load on loopback, in a process of its own: requests are due by the clock, whether or
 * not earlier ones were answered, and each is timed from when it was due.
 */
export interface OpenPlan extends RequestPlan {
  readonly per_second: number
  readonly seconds: number
  /** Connections at once; a request that finds none waits for one, and its time runs. */
  readonly max_connections: number
}

export interface OpenResult {
  readonly due: number
  readonly accepted: Times
  /** Answered with 429 or 503. */
  readonly refused: Times
  /** Other answers, and requests whose connection ended without one. */
  readonly failed: number
  /** Answers to accepted requests by when they were due, a slice a quarter of a second. */
  readonly slices: readonly Times[]
}

/** Length of a slice. */
export const SLICE_MS = 250
