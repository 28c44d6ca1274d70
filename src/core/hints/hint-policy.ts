import { z } from 'zod'
import type { HintFamily, Verbosity } from './hint.ts'

/** Every family of hints; a record, so that none can be missing. */
const FAMILIES: Readonly<Record<HintFamily, true>> = {
  reference: true,
  near_reference: true,
  lines: true,
  overflow: true,
  format: true,
  metadata: true,
  elision: true,
  search_chain: true,
}

export const HINT_FAMILIES = Object.keys(FAMILIES) as readonly HintFamily[]

export const VERBOSITIES = ['terse', 'standard', 'verbose'] as const satisfies readonly Verbosity[]

/** The rule for one family of hints. */
const rule = z.strictObject({
  enabled: z.boolean().default(true),
  max_per_session: z.int().nonnegative().optional(),
  applies_to_models: z.array(z.string().min(1)).default(['*']),
})

/** Section `hints`: the families that may be sent, to which models, and how often. */
export const hintPolicy = z.strictObject({
  enabled: z.boolean().default(true),
  joint_search_tool: z
    .string()
    .regex(/^[\w./-]{1,128}$/)
    .optional(),
  types: z.partialRecord(z.enum(HINT_FAMILIES), rule.prefault({})).default({}),
})
