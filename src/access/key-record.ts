import { hash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { TENANT_NAME } from '../core/base/tenant-name.ts'
import { memberName, teamName } from '../core/fingerprints/upload.ts'

/** The scopes of keys; each route names one. */
export const SCOPES = [
  'encode',
  'retrieve',
  'mcp',
  'fingerprints:write',
  'fingerprints:read',
  'proxy',
  'read-all',
  'metrics',
  'ui',
  'admin',
] as const
export type Scope = (typeof SCOPES)[number]

/** One key at rest. The key itself is not in it and cannot be computed from it. */
export const keyRecordSchema = z.strictObject({
  id: z.string().regex(/^[\w-]{4,32}$/),
  tenant: z.string().regex(TENANT_NAME),
  /** Hexadecimal SHA-256 of the key. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  scopes: z.array(z.enum(SCOPES)).min(1),
  /** Whether its client can fetch kept originals, so that content may be elided. */
  redeems: z.boolean().default(false),
  /** Whether its client sends whole conversations, so that results may refer to earlier ones. */
  references: z.boolean().optional(),
  /** Requests a second in the long run, and how many at once after a pause. Unset: no limit. */
  rate_per_s: z.number().min(0.001).max(1e6).optional(),
  burst: z.int().positive().max(1e6).optional(),
  /** Requests that are read, wait or run at the same time. Unset: no limit of its own. */
  max_concurrent: z.int().positive().optional(),
  /** The project whose configuration its requests get, whatever they say. Unset: they may say. */
  project: z.string().regex(TENANT_NAME).optional(),
  /** The only teams whose fingerprints it may read and write. Unset: all of the tenant. */
  teams: z.array(teamName).min(1).max(1_000).optional(),
  /** The one member that it may upload as, and withdraw. Unset: any. */
  member: memberName.optional(),
  created_at: z.int().nonnegative(),
  note: z.string().max(200).optional(),
})

export type KeyRecord = z.output<typeof keyRecordSchema>

/** Starts every key, so that scanners for leaked secrets can find one. */
const KEY_PREFIX = 'hvs_'
const KEY_BYTES = 32

/** A new key and its record's id and digest. 256 random bits need no slow hash at rest. */
export function makeKey(): { key: string; id: string; sha256: string } {
  const key = KEY_PREFIX + randomBytes(KEY_BYTES).toString('base64url')
  return { key, id: randomBytes(6).toString('hex'), sha256: hash('sha256', key) }
}
