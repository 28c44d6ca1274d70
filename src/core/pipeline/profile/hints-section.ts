import { z } from 'zod'
import { HINT_FAMILIES } from '../../hints/hint.ts'
import { DEFAULT_PIPELINE } from './default-pipeline.ts'
import { section } from './section.ts'

/** The rule for one family of hints. */
const rule = z.strictObject({
  enabled: z.boolean().default(true),
  max_per_session: z.int().nonnegative().optional(),
  applies_to_models: z.array(z.string().min(1)).default(['*']),
})

/** Section `hints`: the families that may be sent, to which models, and how often. */
export const hintPolicy = section(DEFAULT_PIPELINE.hints, {
  enabled: z.boolean(),
  types: z.partialRecord(z.enum(HINT_FAMILIES), rule.prefault({})),
})
