import type { Failure, Reference } from '../store.ts'
import type { Codec } from '../values/codec.ts'
import { fail, goneFailure } from '../values/failure.ts'
import { MIN_DIGITS } from '../values/hash-range.ts'
import type { StoreEvent } from '../values/store-event.ts'
import type { CounterName } from '../values/store-figures.ts'
import { refusal } from './failures.ts'
import { ID_DIGITS, shortName } from './layout.ts'
import type { RedisServer } from './server.ts'

/** What reading and writing bodies needs. */
export interface BodiesOptions {
  readonly server: RedisServer
  readonly codec: Codec
  /** The time for the functions, empty for the server's own; and the same as a number. */
  readonly time: () => string
  readonly now: () => number
  readonly rootOf: (tenant: string) => string
  /** Notes that a tenant has data, so that it is swept. */
  readonly register: (tenant: string) => Promise<Failure | undefined>
  readonly maxBodyBytes: number
  readonly tenantMaxBytes: number
  readonly ttlMs: number
  readonly tombstoneMs: number
  readonly count: (name: CounterName, by?: number) => void
  readonly onEvent: (event: StoreEvent) => void
}

/** Chunks that are sent or asked for in one call, 512 KiB of content. */
export const CHUNKS_AT_ONCE = 8
const HEX = /^[0-9a-f]{8,64}$/

/** A reference as the functions take it. */
export function checkReference({ ref, session }: Reference) {
  const minimum = session === undefined ? MIN_DIGITS.tenant : MIN_DIGITS.session
  const digits = ref.toLowerCase()
  if (!HEX.test(digits) || digits.length < minimum) {
    return fail('invalid_request', `a reference is ${minimum} to 64 hex digits`)
  }
  const name = session === undefined ? '' : shortName(session)
  return { ok: true, ref: digits, session: name } as const
}

export function idOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex').slice(0, ID_DIGITS)
}

export function chunkKey(root: string, id: string, incarnation: string, number: number): string {
  return `${root}c:${id}:${incarnation}:${number}`
}

/**
 * The failure of a reference that names no body.
 * @param time when it went, if the outcome has one, in Unix milliseconds
 */
export function missing(outcome: string, ref: string, time: unknown): Failure {
  if (outcome === 'expired' || outcome === 'removed') {
    return goneFailure(ref, Number(time), outcome === 'removed')
  }
  return outcome === 'not_found'
    ? fail('not_found', `no original ${ref} is kept`)
    : refusal(outcome)
}
