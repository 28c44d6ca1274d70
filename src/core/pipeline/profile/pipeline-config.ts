import { z } from 'zod'
import { HINT_FAMILIES, VERBOSITIES } from '../../hints/hint.ts'
import { CONSTRUCTS, READING_LEVELS } from '../../reading/constructs.ts'
import { STRATEGY_IDS } from '../../reduce/budget/strategies.ts'
import { TRIM_ALGORITHMS } from '../../reduce/trim/trim-algorithms.ts'
import { VIEW_LEVELS } from '../../reduce/views/level.ts'
import type { ViewData } from '../../reduce/views/view-schema.ts'
import { DEFAULT_PIPELINE, NEWEST_SCHEMA, TEMPLATE_IDS } from './default-pipeline.ts'
import { FORMAT_IDS } from './format-ids.ts'
import { profileAxes, recursionDepth } from './profile-axes.ts'
import { section } from './section.ts'
import { cacheAlign, cacheLife, steering } from './steering-section.ts'

/** The rule for one family of hints. */
const rule = z.strictObject({
  enabled: z.boolean().default(true),
  max_per_session: z.int().nonnegative().optional(),
  applies_to_models: z.array(z.string().min(1)).default(['*']),
})

/** Section `hints`: the families that may be sent, to which models, and how often. */
const hintPolicy = section(DEFAULT_PIPELINE.hints, {
  enabled: z.boolean(),
  types: z.partialRecord(z.enum(HINT_FAMILIES), rule.prefault({})),
})

const positive = z.int().positive()
const lruSize = positive.max(1_000)
const minBodyChars = z.int().nonnegative()
const templateId = z.enum(TEMPLATE_IDS)
const verbosity = z.enum(VERBOSITIES)
const formats = z.array(z.enum(FORMAT_IDS))
const maxRatio = z.number().gt(0).max(1)
/** A tool's name, an endpoint class, or the beginning of names with `*` at its end. */
const endpoint = z
  .string()
  .min(1)
  .max(512)
  .regex(/^[^*]*\*?$/, 'a * stands at the end of a name only')

const toolName = z.string().min(1).max(512)

const dedup = section(DEFAULT_PIPELINE.dedup, {
  lru_size: lruSize,
  /** How much hints say: of this section and of all others. */
  hint_verbosity: verbosity,
  min_body_chars: minBodyChars,
  enabled_per_endpoint: z.record(endpoint, z.boolean()),
  near_ref_enabled: z.boolean(),
  /** Blocks of hosts, such as `system-reminder`, that are references if they come again. */
  host_blocks: z.array(toolName),
  /** Tools that write the file they are given, so that earlier reads of it become stale. */
  mutating_tools: z.array(toolName),
  /** Tools whose earlier results are stale once the tool is called. */
  invalidates: z.record(toolName, z.array(toolName)),
})

const templates = section(DEFAULT_PIPELINE.templates, {
  active: z.array(templateId),
  endpoint_overrides: z.record(endpoint, templateId),
})

/** The shape whose least value is a share; those of the others are numbers of things. */
const STABILITY = 'array_of_objects_min_key_stability'

/** Least sizes of shapes that are written as lines or tables. */
const shapeThresholds = z
  .partialRecord(
    z.enum([
      'array_of_objects_min_items',
      STABILITY,
      'flat_object_min_fields',
      'markdown_table_min_cols',
    ]),
    z.number().nonnegative(),
  )
  .superRefine((sizes, { addIssue }) => {
    for (const [name, size] of Object.entries(sizes)) {
      const isShare = name === STABILITY
      if (isShare ? size <= 1 : Number.isInteger(size) && size > 0) continue
      const message = isShare ? 'must be at most 1' : 'must be a whole number above 0'
      addIssue({ code: 'custom', path: [name], message })
    }
  })

const mckp = section(DEFAULT_PIPELINE.mckp, {
  recursion_depth: recursionDepth,
  formats_enabled: formats,
  shape_thresholds: shapeThresholds,
})

/**
 * A field with this value is kept before a million others. Sums stay exact enough to be compared.
 */
const MAX_FIELD_VALUE = 1_000_000
const strategy = z.enum(STRATEGY_IDS)
const fieldValues = z.record(z.string(), z.number().min(0).max(MAX_FIELD_VALUE))

/** What mode `elide` leaves out without a budget. */
const elision = section(DEFAULT_PIPELINE.elision, {
  enabled: z.boolean(),
  /** Whether proxies do the same with new results, although no request asks for it. */
  in_proxies: z.boolean(),
  min_block_bytes: z.int().nonnegative(),
  /** Tools by which agents fetch originals, as their servers call them. */
  redeem_tools: z.array(toolName),
})

/** How lists of items are trimmed; see `docs/reference/budget.md`. */
const formatPipeline = section(DEFAULT_PIPELINE.format_pipeline, {
  /** For requests with mode trim that name none. */
  budget_tokens: positive,
  /** By tool, its name with or without what a proxy puts in front of it. */
  strategies: z.record(endpoint, strategy),
  algorithm: z.enum(TRIM_ALGORITHMS),
})

const viewLevel = z.enum(VIEW_LEVELS)

const HIGHEST_PRICE = 10_000
const tokens = z.number().min(0).max(HIGHEST_PRICE)
const readingPrice = z.union([
  tokens,
  z.strictObject({
    text: tokens.optional(),
    share: tokens.optional(),
    each: tokens.optional(),
  }),
])
/** Brackets are compared where they are written, by their tokens. */
function isPerUse(price: z.infer<typeof readingPrice>): boolean {
  return typeof price === 'object' && price.text === undefined && price.share === undefined
}

const readingLevel = z.enum(READING_LEVELS)

/** How hard texts may be to read; see `docs/reference/formats.md`. */
const reading = section(DEFAULT_PIPELINE.reading, {
  level: readingLevel,
  /** Instead of the built-in ones: a number is the price of a text that has the construct. */
  prices: z
    .partialRecord(z.enum(CONSTRUCTS), readingPrice)
    .refine(({ brackets = {} }) => isPerUse(brackets), {
      path: ['brackets'],
      error: 'is a price of each token alone: { each = 0.5 }',
    }),
})

/** A step begins at tokens, or at a share of the model's `context_window`. */
const pressureStep = z
  .strictObject({
    from_tokens: z.int().positive().optional(),
    from_share: z.number().gt(0).max(1).optional(),
    level: viewLevel,
  })
  .refine(
    ({ from_tokens, from_share }) => (from_tokens === undefined) !== (from_share === undefined),
    'needs either from_tokens or from_share',
  )

function isRising(steps: readonly z.output<typeof pressureStep>[]): boolean {
  return (['from_tokens', 'from_share'] as const).every(key => {
    const starts = steps.flatMap(step => step[key] ?? [])
    return starts.every((start, at) => at === 0 || start > starts[at - 1]!)
  })
}

/** How much is shown of results for which no request names a level; see `docs/guide/views.md`. */
const views = section(DEFAULT_PIPELINE.views, {
  level: viewLevel,
  /** By tool, its name with or without what a proxy puts in front of it. */
  levels: z.record(endpoint, viewLevel),
  /** Files of views, which take precedence over those that are built in. */
  files: z.array(z.string().min(1)).max(100),
  /** Levels by what the agent's context has already, in tokens, from little to much. */
  pressure: z
    .array(pressureStep)
    .max(8)
    .refine(isRising, 'from_tokens and from_share must rise from entry to entry'),
})

/** When proxies clear old results; see `docs/guide/clearing.md`. */
const clearing = section(DEFAULT_PIPELINE.clearing, {
  /** `auto`: at pauses, in conversations whose calls for originals the proxy answers. */
  enabled: z.union([z.boolean(), z.literal('auto')]),
  /** Tools whose results stay, as their servers call them. */
  exclude: z.array(toolName),
})

/** A share of units or results; `nan` is none. */
const share = z.number().min(0).max(1)

/** What stays untouched so that effects can be measured; see `docs/guide/prove-it.md`. */
const arms = section(DEFAULT_PIPELINE.arms, {
  /** Share of sessions that proxies forward untouched. */
  holdout: share,
  /** Share of results that stay whole although they would be elided. */
  explore: share,
})

const endpointOverride = z.strictObject({
  lru_size: lruSize.optional(),
  min_body_chars: minBodyChars.optional(),
  hint_verbosity: verbosity.optional(),
  formats: formats.optional(),
  elision_enabled: z.boolean().optional(),
  elision_min_saved_tokens: z.int().nonnegative().optional(),
  max_ratio: maxRatio.optional(),
  max_result_tokens: z.int().positive().max(10_000_000).optional(),
  field_values: fieldValues.optional(),
})

/**
 * `pipeline_config.toml`: how the pipeline chooses, by model, agent and tool; see
 * `docs/reference/configuration.md`. Plain data, so that it can be handed to a thread. Every key is
 * optional; the defaults choose by exact token counts alone.
 */
export const pipelineSchema = z
  .strictObject({
    schema_version: z.int().min(1).max(NEWEST_SCHEMA).default(NEWEST_SCHEMA),
    dedup: dedup.prefault({}),
    templates: templates.prefault({}),
    mckp: mckp.prefault({}),
    reading: reading.prefault({}),
    format_pipeline: formatPipeline.prefault({}),
    elision: elision.prefault({}),
    views: views.prefault({}),
    clearing: clearing.prefault({}),
    arms: arms.prefault({}),
    endpoint_overrides: z.record(endpoint, endpointOverride).default({}),
    profiles: profileAxes.prefault({}),
    hints: hintPolicy.prefault({}),
    steering: steering.prefault({}),
    cache_align: cacheAlign.prefault({}),
    cache_life: cacheLife.prefault({}),
  })
  .readonly()

/** What one layer of the configuration says: keys that it does not have are not there. */
export type LayerSettings = z.input<typeof pipelineSchema>

export type PipelineConfig = z.output<typeof pipelineSchema> & {
  /** The views that may apply, in their order: read from files, never a key of the file itself. */
  readonly knownViews?: readonly ViewData[]
  /**
   * The layers that were merged, the latest first, without the built-in one. Keys by tool are found
   * in them. Absent: the configuration is one layer.
   */
  readonly layers?: readonly LayerSettings[]
  /**
   * Those of `elision.redeem_tools`, as requests name them, that fetch from our store; absent: all.
   */
  readonly ownTools?: readonly string[]
}
