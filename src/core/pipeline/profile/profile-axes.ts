import { z } from 'zod'
import { MAX_LINE_DEPTH } from '../../formats/json/tree/style.ts'
import { HINT_FAMILIES } from '../../hints/hint-policy.ts'
import { READING_LEVELS } from '../../reading/constructs.ts'
import { TOKENIZER_IDS } from '../../tokens/profiles.ts'
import { FORMAT_IDS } from './format-ids.ts'

/**
 * Names of the templates of SOURCES.md#formats, and the format of each. Nested answers and diffs
 * inside JSON are both what `tree` writes best: it recurses, and its fences keep a diff as real
 * lines beside its siblings.
 */
export const TEMPLATE_FORMATS = {
  csv_from_md: 'md',
  pipeline_deep_mckp: 'tree',
  mr_diff_fence: 'tree',
} as const

export type TemplateId = keyof typeof TEMPLATE_FORMATS

/** All ids, in the order of the table. */
export const TEMPLATE_IDS = Object.keys(TEMPLATE_FORMATS) as readonly TemplateId[]

/** The variant is found by what the request names; of agents, it is the one that `tune` wrote. */
export const AUTO = 'auto'

/** The variant of the language model axis for models that no other variant names. */
export const DEFAULT_VARIANT = 'default'

/** Levels of lines in the tree format. */
export const recursionDepth = z.int().min(0).max(MAX_LINE_DEPTH)

const LARGEST_COST = 10

const tokenizerVariant = z.strictObject({
  inline_json_cost: z.number().positive().max(LARGEST_COST).default(1),
})

const llmVariant = z.strictObject({
  tokenizer: z.enum(TOKENIZER_IDS).optional(),
  prefer_explicit_keys: z.boolean().default(false),
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

/**
 * The agents that SOURCES.md#formats describes; a file adds to them, or changes them key by key.
 */
export const BUILT_IN_AGENTS: Readonly<Record<string, z.output<typeof agentVariant>>> = {
  default: {},
  file_search_heavy: { near_ref_enabled: false },
  marathon_refactor: { near_ref_enabled: true, recursion_depth: 7 },
}

/** Every variant by its name. */
function variantsOf<Variant extends z.ZodType>(variant: Variant) {
  return z.record(z.string().min(1).max(256), variant).default({})
}

/**
 * Section `profiles`: the four axes of SOURCES.md#formats. `active` is `auto` or the name of the
 * one variant that is in force for every request.
 */
export const profileAxes = z
  .strictObject({
    tokenizer: z
      .strictObject({
        active: z.enum([AUTO, ...TOKENIZER_IDS]).default(AUTO),
        variants: z.partialRecord(z.enum(TOKENIZER_IDS), tokenizerVariant).default({}),
      })
      .prefault({}),
    llm: z
      .strictObject({ active: z.string().default(AUTO), variants: variantsOf(llmVariant) })
      .prefault({}),
    agent: z
      .strictObject({
        active: z.string().default(DEFAULT_VARIANT),
        variants: variantsOf(agentVariant),
      })
      .prefault({}),
    data: z
      .strictObject({ active: z.string().default(AUTO), variants: variantsOf(dataVariant) })
      .prefault({}),
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
