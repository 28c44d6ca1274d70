import { z } from 'zod'
import { MAX_LINE_DEPTH } from '../../formats/json/tree/style.ts'
import { HINT_FAMILIES } from '../../hints/hint.ts'
import { READING_LEVELS } from '../../reading/constructs.ts'
import { TOKENIZER_IDS } from '../../tokens/profiles.ts'
import {
  AUTO,
  BUILT_IN_AGENTS,
  DEFAULT_PIPELINE,
  TEMPLATE_IDS,
  USUAL_LLM,
  USUAL_TOKENIZER,
} from './default-pipeline.ts'
import { FORMAT_IDS } from './format-ids.ts'
import { section } from './section.ts'

/** Levels of lines in the tree format. */
export const recursionDepth = z.int().min(0).max(MAX_LINE_DEPTH)

const LARGEST_COST = 10

const tokenizerVariant = z.strictObject({
  inline_json_cost: z
    .number()
    .positive()
    .max(LARGEST_COST)
    .default(USUAL_TOKENIZER.inline_json_cost),
})

const llmVariant = z.strictObject({
  tokenizer: z.enum(TOKENIZER_IDS).optional(),
  prefer_explicit_keys: z.boolean().default(USUAL_LLM.prefer_explicit_keys),
  max_inline_nested: z.int().nonnegative().optional(),
  /** Tokens that the model can read at once: steps of `views.pressure` may be shares of it. */
  context_window: z.int().min(1_000).max(100_000_000).optional(),
  reading: z.enum(READING_LEVELS).optional(),
})

const agentVariant = z.strictObject({
  recursion_depth: recursionDepth.optional(),
  near_ref_enabled: z.boolean().optional(),
})

const dataVariant = z.strictObject({
  endpoint_pattern: z.string().min(1).max(512),
  preferred_format: z.enum([...TEMPLATE_IDS, ...FORMAT_IDS]).optional(),
  hint_set: z.array(z.enum(HINT_FAMILIES)).optional(),
})

const { profiles } = DEFAULT_PIPELINE

/** The name of the variant that is in force, and every variant by its name. */
function axisOf<Variant extends z.ZodType>(active: string, variant: Variant) {
  const variants = z.record(z.string().min(1).max(256), variant)
  return z
    .strictObject({ active: z.string().default(active), variants: variants.default({}) })
    .prefault({})
}

/**
 * Section `profiles`: the four axes of SOURCES.md#formats. `active` is `auto` or the name of the
 * one variant that is in force for every request.
 */
export const profileAxes = z
  .strictObject({
    tokenizer: section(profiles.tokenizer, {
      active: z.enum([AUTO, ...TOKENIZER_IDS]),
      variants: z.partialRecord(z.enum(TOKENIZER_IDS), tokenizerVariant),
    }).prefault({}),
    llm: axisOf(profiles.llm.active, llmVariant),
    agent: axisOf(profiles.agent.active, agentVariant),
    data: axisOf(profiles.data.active, dataVariant),
  })
  .superRefine(({ llm, agent, data }, context) => {
    const known = {
      llm: [AUTO, ...Object.keys(llm.variants)],
      agent: [AUTO, ...Object.keys(BUILT_IN_AGENTS), ...Object.keys(agent.variants)],
      data: [AUTO, ...Object.keys(data.variants)],
    }
    for (const [axis, { active }] of Object.entries({ llm, agent, data })) {
      const names = known[axis as keyof typeof known]
      if (names.includes(active)) continue
      const message = `no such variant; known: ${names.join(', ')}`
      context.addIssue({ code: 'custom', path: [axis, 'active'], message })
    }
  })

export type ProfileAxes = z.output<typeof profileAxes>

type Axis<Name extends keyof ProfileAxes> = ProfileAxes[Name]['variants']
export type LlmVariant = Axis<'llm'>[string]
export type DataVariant = Axis<'data'>[string]
