import { MAX_LINE_DEPTH } from '../../formats/json/tree/style.ts'
import { DEFAULT_READING } from '../../reading/constructs.ts'
import { FORMAT_IDS } from './format-ids.ts'

/**
 * The newest schema of the file. Keys kept their meaning since the first one, so all of them are
 * read alike.
 */
export const NEWEST_SCHEMA = 4

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
export const AUTO = 'auto' as const

/** The variant of the language model axis for models that no other variant names. */
export const DEFAULT_VARIANT = 'default' as const

/** What variants have that do not say it. */
export const USUAL_TOKENIZER = { inline_json_cost: 1 }
export const USUAL_LLM = { prefer_explicit_keys: false }

/**
 * The agents that SOURCES.md#formats describes; a file adds to them, or changes them key by key.
 */
export const BUILT_IN_AGENTS: Readonly<
  Record<string, { near_ref_enabled?: boolean; recursion_depth?: number }>
> = {
  default: {},
  file_search_heavy: { near_ref_enabled: false },
  marathon_refactor: { near_ref_enabled: true, recursion_depth: 7 },
}

/**
 * The configuration without a file. It is plain data, which threads and the codec load without the
 * schema; the schema takes its defaults from it.
 */
export const DEFAULT_PIPELINE = {
  schema_version: NEWEST_SCHEMA,
  dedup: {
    lru_size: 16,
    hint_verbosity: 'standard' as const,
    min_body_chars: 200,
    enabled_per_endpoint: {},
    near_ref_enabled: true,
    host_blocks: [],
    mutating_tools: ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'],
    invalidates: {},
  },
  templates: { active: [...TEMPLATE_IDS], endpoint_overrides: {} },
  mckp: {
    recursion_depth: MAX_LINE_DEPTH,
    formats_enabled: [...FORMAT_IDS],
    shape_thresholds: {},
  },
  reading: { level: DEFAULT_READING, prices: {} },
  format_pipeline: { budget_tokens: 8_000, strategies: {}, algorithm: 'auto' as const },
  elision: {
    enabled: true,
    in_proxies: false,
    min_block_bytes: 2_048,
    redeem_tools: ['haversack_retrieve', 'headroom_retrieve'],
  },
  views: { level: 'full' as const, levels: {}, files: [], pressure: [] },
  clearing: { enabled: 'auto' as const, exclude: [] },
  arms: { holdout: 0, explore: 0 },
  endpoint_overrides: {},
  profiles: {
    tokenizer: { active: AUTO, variants: {} },
    llm: { active: AUTO, variants: {} },
    agent: { active: DEFAULT_VARIANT, variants: {} },
    data: { active: AUTO, variants: {} },
  },
  hints: { enabled: true, types: {} },
  steering: { verbosity: 'balanced' as const },
  cache_align: { normalise: false, defer: false },
  cache_life: {
    place: false,
    hosts: [] as string[],
    life: 'client' as const,
    budget: 0.05,
    openai: 'client' as const,
    pings: 0,
  },
}
