/** Bytes of a SHA-256. */
const HASH_BYTES = 32

/** Fewest hex digits that name a body: anywhere in a tenant, and inside one session. */
export const MIN_DIGITS = { tenant: 12, session: 8 } as const

/** All hashes that start with a prefix: from `low` to `high`, both included. */
export interface HashRange {
  readonly digits: number
  readonly low: Uint8Array
  readonly high: Uint8Array
}

const HEX = /^[0-9a-f]{8,64}$/i

/** The hashes that `ref` may shorten; `undefined` if it is not 8 to 64 hex digits. */
export function hashRange(ref: string): HashRange | undefined {
  if (!HEX.test(ref)) return undefined
  return {
    digits: ref.length,
    low: Buffer.from(ref.padEnd(2 * HASH_BYTES, '0'), 'hex'),
    high: Buffer.from(ref.padEnd(2 * HASH_BYTES, 'f'), 'hex'),
  }
}

/** The same range over the first `bytes` bytes of hashes. */
export function shorten(range: HashRange, bytes: number): [low: Uint8Array, high: Uint8Array] {
  return [range.low.subarray(0, bytes), range.high.subarray(0, bytes)]
}
