import { z } from 'zod'

const value = z
  .union([z.boolean(), z.number(), z.string(), z.array(z.string()).readonly()])
  .nullable()

const change = z.object({
  /** As TOML writes it. */
  key: z.string(),
  rule: z.string(),
  evidence: z.string(),
  date: z.string(),
  /** `null`: the tuned file had no such key, or has none now. */
  from: value,
  to: value,
})

/** What a change does, in billed input tokens of the inputs; for a reader. */
const effect = z.object({ before: z.number(), after: z.number() })

/** One change of a tuned file, as it is kept. */
export const versionRecord = z.object({
  id: z.string(),
  /** Counts the versions of a tenant from 1. */
  number: z.int().positive(),
  action: z.enum(['apply', 'revert']),
  /** The version that was reverted. */
  reverts: z.string().optional(),
  created_at: z.string(),
  /** The version that was in force before; `null` if there was none. */
  onto: z.string().nullable(),
  generation: z.string(),
  /** Digest of what the changes were decided by. */
  inputs: z.string(),
  effect: effect.optional(),
  changes: z.array(change),
  /** SHA-256 of the file, by which a change by hand is noticed. */
  digest: z.string(),
})

export type TunedVersion = z.output<typeof versionRecord>
export type VersionChange = TunedVersion['changes'][number]
