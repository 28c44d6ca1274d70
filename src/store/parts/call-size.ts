import type { PartSelector } from '../../core/parts/part.ts'
import type { Kept, Reference, Result } from '../store.ts'

/** What a call's cost is estimated from. */
export interface CallSize {
  /** The tenant whose turn it takes; `OPERATOR` for calls about all tenants. */
  readonly tenant: string
  /** The operation, and for a part which. */
  readonly kind: string
  /** Bytes that it works on; `null` if unknown. */
  readonly bytes: number | null
}

/** The operation, its arguments, and the bytes that the call carries. */
interface MeasuredCall {
  readonly op: string
  readonly args: readonly unknown[]
  readonly bytes: number
}

/** The tenant of no client: none has a line break in its name. */
const OPERATOR = '\n'

/**
 * Remembers how large bodies are that were put or read lately, to recognise a large read.
 */
export interface Sizes {
  of(call: MeasuredCall): CallSize
  /** Learns from an answer. */
  note(call: Pick<MeasuredCall, 'op' | 'args'>, answer: Result<object>): void
}

/** Bodies whose size is remembered. */
const MAX_SIZES = 4096
/**
 * Digits of a hash that they are remembered by: the shortest that names a body without a session.
 */
const DIGITS = 12

export function createSizes(): Sizes {
  const sizes = new Map<string, number>()

  function remember(key: string, bytes: number): void {
    sizes.delete(key)
    sizes.set(key, bytes)
    if (sizes.size <= MAX_SIZES) return
    for (const oldest of sizes.keys()) {
      sizes.delete(oldest)
      break
    }
  }

  return {
    of({ op, args, bytes }) {
      const [first, second] = args
      const tenant = tenantOf(first)
      if (op === 'get' || op === 'part') {
        const kind = op === 'get' ? op : `part ${(second as PartSelector).kind}`
        return { tenant, kind, bytes: sizes.get(keyOf(first as Reference)) ?? null }
      }
      return { tenant, kind: op, bytes: KNOWN.has(op) ? bytes : null }
    },
    note({ op, args }, answer) {
      if (!answer.ok) return
      const { hash, bytes } = answer as Partial<Kept>
      if (bytes === undefined) return
      const [first] = args
      if (op === 'put' && hash !== undefined) {
        remember(keyOf({ tenant: tenantOf(first), ref: hash }), bytes)
      }
      if (op === 'get' || op === 'part') remember(keyOf(first as Reference), bytes)
    },
  }
}

/** Operations whose bytes are in the call itself. */
const KNOWN: ReadonlySet<string> = new Set(['put', 'writeRecord'])

/** The tenant, if the first argument names one. */
function tenantOf(first: unknown): string {
  if (typeof first !== 'object' || first === null || !('tenant' in first)) return OPERATOR
  return String(first.tenant)
}

function keyOf({ tenant, ref }: Pick<Reference, 'tenant' | 'ref'>): string {
  return `${ref.slice(0, DIGITS).toLowerCase()} ${tenant}`
}

/** Estimates calls by the thread's time for earlier calls of the same kind and similar size. */
export interface Costs {
  /** In whole microseconds. */
  estimateUs(size: CallSize): number
  learn(size: CallSize, tookUs: number): void
}

/** Share of the newest call in the running mean. */
const WEIGHT = 0.1
/** Bytes that account for the fixed part of a call. */
const FIXED_BYTES = 8192
/** Until the first of a kind and size has ended; as measured on two shared cores. */
const FIRST_US_PER_BYTE = 0.01
/** Sizes within a factor of two learn from each other. */
const SIZES = 32

export function createCosts(): Costs {
  const usPerByte = new Map<string, Float64Array>()
  /** Times of calls whose size is not known. */
  const unsized = new Map<string, number>()

  function ratesOf(kind: string): Float64Array {
    const known = usPerByte.get(kind)
    if (known !== undefined) return known
    const rates = new Float64Array(SIZES).fill(FIRST_US_PER_BYTE)
    usPerByte.set(kind, rates)
    return rates
  }

  return {
    estimateUs({ kind, bytes }) {
      if (bytes === null) return Math.round(unsized.get(kind) ?? FIXED_BYTES * FIRST_US_PER_BYTE)
      return Math.round(ratesOf(kind)[bucket(bytes)]! * (bytes + FIXED_BYTES))
    },
    learn({ kind, bytes }, tookUs) {
      if (bytes === null) {
        const known = unsized.get(kind) ?? FIXED_BYTES * FIRST_US_PER_BYTE
        unsized.set(kind, known + WEIGHT * (tookUs - known))
        return
      }
      const rates = ratesOf(kind)
      const known = rates[bucket(bytes)]!
      rates[bucket(bytes)] = known + WEIGHT * (tookUs / (bytes + FIXED_BYTES) - known)
    },
  }
}

/** The binary logarithm, in whole numbers. */
function bucket(bytes: number): number {
  return SIZES - 1 - Math.clz32(bytes + FIXED_BYTES)
}
