import { z } from 'zod'
import { parseRedisUrl } from '../core/base/redis-address.ts'

const positive = z.int().positive()

/** The text is a secret: messages must not quote it. */
const redisUrl = z.string().transform((text, { addIssue }) => {
  const address = parseRedisUrl(text)
  if (!('fault' in address)) return address
  addIssue(address.fault)
  return z.NEVER
})

/** The shared store; without it each process has its own file. */
export const redisSchema = z.strictObject({
  url: redisUrl,
  /** The start of all keys, so that two services can share a server. */
  prefix: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be letters, digits, ".", "_" and "-", at most 64')
    .default('hvs1'),
  /** The name of those that share it: a Redis that others have named is refused. */
  cluster: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be letters, digits, ".", "_" and "-", at most 64')
    .optional(),
  /** When a write counts as done. */
  durability: z.enum(['primary', 'replica', 'disk']).default('primary'),
  /**
   * How long a call may take before the request continues without it. The other times follow from
   * it: `redisTimes`.
   */
  call_timeout_ms: positive.min(10).max(10_000).default(100),
})

/** How long what is done with a Redis may take, in milliseconds. */
export interface RedisTimes {
  readonly callMs: number
  /** A write waits so long for a replica or the disk. */
  readonly waitMs: number
  /** A server that does not answer is tried again so often. */
  readonly probeMs: number
  /** A proxied turn waits so long for Redis, rather than change a conversation's prefix. */
  readonly recordMs: number
  /** A turn whose earlier results are not known here waits in an outage that is no older. */
  readonly outageMs: number
}

/** All of them, by how long a call may take: a slow network slows them alike. */
export function redisTimes(callMs: number): RedisTimes {
  return {
    callMs,
    waitMs: callMs,
    probeMs: 5 * callMs,
    recordMs: 20 * callMs,
    outageMs: 200 * callMs,
  }
}
