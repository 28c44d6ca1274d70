import type { RequestPlan } from '../http/wire.ts'

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

export interface Times {
  readonly count: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
}

/** Length of a slice. */
export const SLICE_MS = 250
