import { z } from 'zod'
import { REFUSALS } from './admit-rows.ts'
import {
  endpointName,
  fingerprintSchema,
  LIMITS,
  mergedFingerprintSchema,
  summedFingerprintSchema,
  WINDOW_DAYS,
} from './fingerprint.ts'

/** Names of teams and members: parts of keys in the store, and no path. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9][\w.@+-]{0,63}$/, 'letters, digits, . _ @ + and -, 64 at most')

export const teamName = name
export const memberName = name
const windowDays = z.int().min(1).max(WINDOW_DAYS)

/** A member's aggregated endpoints. An endpoint may have several rows that share no day. */
export const uploadRequest = z.strictObject({
  version: z.literal(1).optional(),
  member: memberName,
  window_days: windowDays.default(WINDOW_DAYS),
  endpoints: z.array(fingerprintSchema).max(LIMITS.rows),
})

export const uploadAnswer = z.object({
  team: teamName,
  member: memberName,
  accepted: z.int().nonnegative(),
  refused: z.array(
    z.object({
      endpoint_class: endpointName,
      first_seen_ms: z.int(),
      reason: z.enum(REFUSALS),
    }),
  ),
  expires_at: z.int(),
})

export type UploadAnswer = z.output<typeof uploadAnswer>

const head = {
  version: z.literal(1),
  generated_at: z.int().describe('When it was merged; the same until something in it changes'),
  window_days: windowDays,
  k: z.int().describe('Sessions that each contribution has at least'),
}

/** The merged uploads of a team's members. */
export const teamDocument = z.object({
  ...head,
  team: teamName,
  fingerprints: z.array(mergedFingerprintSchema),
  left_out: z.int().describe('Endpoints beyond the most that a document has'),
})

export type TeamDocument = z.output<typeof teamDocument>

/** The document that a provider publishes. */
export const providerDocument = z.object({
  ...head,
  fingerprints: z.array(summedFingerprintSchema),
})

export type ProviderDocument = z.output<typeof providerDocument>

export const withdrawal = z.object({
  team: teamName,
  member: memberName,
  withdrawn: z.literal(true),
})
