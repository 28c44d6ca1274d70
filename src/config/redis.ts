import { z } from 'zod'
import { parseRedisUrl } from '../store/redis/address.ts'

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
  /** How long a write may wait for a replica or the disk. */
  wait_ms: positive.max(10_000).default(100),
  /** How long a call may take before the request continues without it. */
  call_timeout_ms: positive.min(10).max(10_000).default(100),
  /** Failures in a row after which calls fail at once. */
  breaker_failures: positive.max(1_000).default(5),
  /** How often a server that does not answer is tried again. */
  probe_ms: positive.min(50).max(60_000).default(500),
  /** What was written in this time is kept, to write it again after a failover. */
  repair_ms: positive.min(1_000).max(600_000).default(10_000),
  /** Bytes of it at most. */
  repair_bytes: positive.min(1_048_576).default(67_108_864),
  /** Bytes of texts, as they are stored, that a session brings to a replica in one call. */
  open_bytes: z.int().min(0).max(1_048_576).default(262_144),
  /** How long a proxied turn waits for Redis, rather than change a conversation's prefix. */
  record_wait_ms: z.int().min(0).max(10_000).default(2_000),
  /** How old an outage may be in which a turn waits whose earlier results are not known here. */
  outage_wait_ms: z.int().min(0).max(60_000).default(20_000),
  /** PEM files for TLS. */
  ca_file: z.string().min(1).optional(),
  cert_file: z.string().min(1).optional(),
  key_file: z.string().min(1).optional(),
})
