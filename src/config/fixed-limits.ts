import type { ClearingTerms } from '../core/base/clearing-terms.ts'

const MIB = 1024 * 1024
const SECOND_MS = 1_000

/** Limits that no setting changes. A test may have other ones: `ServiceSeams.limits`. */
export interface FixedLimits {
  /** A client has this long to send the head of its request, and the whole. */
  readonly headerMs: number
  readonly requestMs: number
  /** A connection without a request is closed after this. */
  readonly idleMs: number
  /** Nesting and number of values of a request body, outside its strings. */
  readonly envelope: { readonly maxDepth: number; readonly maxValues: number }
  /** Bodies that are read, wait or run at once have so many bytes together. */
  queueBytes(maxBodyBytes: number): number
  /** Jobs that wait or run at once. */
  readonly queueJobs: number
  /** Each is an open file. */
  readonly connections: number
  /** The heap of a worker thread, in MiB: for trees of values, and copies, of the largest body. */
  heapMb(maxBodyBytes: number): number
  /** Fingerprints are built again from telemetry so often. */
  readonly fingerprintsMs: number
  /** Proxies forward larger bodies unchanged. */
  readonly rewriteBytes: number
  /** What steps of clearing leave and cost; absent: the usual. */
  readonly clearing?: ClearingTerms
  /** What an exchange with an upstream may take, in milliseconds: `ForwardLimits`. */
  readonly forward: {
    readonly connect_ms: number
    readonly headers_ms: number
    readonly idle_ms: number
    readonly total_ms: number
  }
}

/** Deepest nesting of JSON content that is parsed; deeper content passes through unchanged. */
export const CONTENT_DEPTH = 256

/** How long records of sent results are kept, so that a conversation's prefix does not change. */
export const REWRITE_TTL_MS = 7 * 86_400 * SECOND_MS

/** The largest bodies that may be under way at once. */
const QUEUED_BODIES = 8

/** How many times the largest body a thread's heap holds, and the least for small ones. */
const HEAP_BODIES = 64
const LEAST_HEAP_MB = 256

export const FIXED_LIMITS: FixedLimits = {
  headerMs: 10 * SECOND_MS,
  requestMs: 30 * SECOND_MS,
  // This is longer than load balancers keep an idle connection: some for ten minutes.
  idleMs: 620 * SECOND_MS,
  envelope: { maxDepth: 64, maxValues: 4_000_000 },
  queueBytes: maxBodyBytes => QUEUED_BODIES * maxBodyBytes,
  queueJobs: 1_024,
  connections: 10_000,
  heapMb: maxBodyBytes => Math.max(LEAST_HEAP_MB, Math.ceil((HEAP_BODIES * maxBodyBytes) / MIB)),
  fingerprintsMs: 3_600 * SECOND_MS,
  // The largest body that Anthropic accepts.
  rewriteBytes: 32 * MIB,
  forward: {
    connect_ms: 10 * SECOND_MS,
    headers_ms: 600 * SECOND_MS,
    idle_ms: 300 * SECOND_MS,
    total_ms: 3_600 * SECOND_MS,
  },
}
