import type { DedupTerms } from '../../sessions/turn/dedup-terms.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import { matchModel } from './match-model.ts'
import { DEFAULT_PIPELINE, own, type PipelineConfig } from './pipeline-config.ts'
import {
  type AgentVariant,
  AUTO,
  BUILT_IN_AGENTS,
  type DataVariant,
  DEFAULT_VARIANT,
  type LlmVariant,
  type ProfileAxes,
  TEMPLATE_FORMATS,
  type TemplateId,
} from './profile-axes.ts'
import {
  type BudgetProfile,
  budgetFor,
  dedupFor,
  type HintProfile,
  hintsFor,
  type ProfileQuery,
  type ViewProfile,
  viewFor,
} from './sections.ts'
import { ToolNames } from './tool-names.ts'

/** How values and texts are written; see `docs/reference/profiles.md`. */
export interface EncodingProfile {
  readonly inlineJsonCost: number
  readonly preferExplicitKeys: boolean
  /** UTF-16 code units. */
  readonly maxInlineNested: number
  readonly recursionDepth: number
  /** Names of formats without their version. */
  readonly formats: readonly string[]
  readonly minItems: number
  readonly minKeyStability: number
  readonly minFields: number
  readonly minCols: number
}

/** What mode `elide` leaves out without a budget; see `docs/reference/elision.md`. */
export interface ElisionProfile {
  readonly enabled: boolean
  readonly minBlockBytes: number
  /** Most tokens that may be left, as a share of those of the smallest lossless text. */
  readonly maxRatio: number
  /** Tools by which agents fetch originals. */
  readonly retrievingTools: readonly string[]
}

/** The configuration as it applies to one request. */
export interface Profile {
  readonly encoding: EncodingProfile
  /** Format that L1 tries before all others. */
  readonly preferred: string | undefined
  readonly budget: BudgetProfile
  readonly elision: ElisionProfile
  readonly dedup: DedupTerms
  readonly hints: HintProfile
  readonly view: ViewProfile
}

/**
 * The profile of a request: the language model's variant by its id, the weights of its tokenizer,
 * the agent's variant, the data variant by the tool. The same configuration and request give the
 * same profile.
 * @param config the built-in defaults if absent
 * @throws AppError `invalid_request` for an unknown tokenizer
 */
export function resolveProfile(
  config: PipelineConfig = DEFAULT_PIPELINE,
  query: ProfileQuery = {},
): Profile {
  const { profiles, mckp } = config
  const { tokenizer } = profiles
  const llm = llmVariant(profiles.llm, query.model)
  const agent = agentVariant(profiles.agent)
  const data = dataVariant(profiles.data, query.tool)
  const weights =
    tokenizer.active === AUTO ? (llm.tokenizer ?? resolveTokenizer(query)) : tokenizer.active
  const thresholds = mckp.shape_thresholds
  const hints = hintsFor(config, query, agent, data)
  const named = { tool: query.tool, names: new ToolNames(query) }
  const settingOf = <Key extends keyof Override>(key: Key) =>
    named.names.find(config.endpoint_overrides, entry => entry[key])
  return {
    encoding: {
      inlineJsonCost: tokenizer.variants[weights]?.inline_json_cost ?? 1,
      preferExplicitKeys: llm.prefer_explicit_keys ?? false,
      maxInlineNested: llm.max_inline_nested ?? Number.POSITIVE_INFINITY,
      recursionDepth: agent.recursion_depth ?? mckp.recursion_depth,
      formats: settingOf('formats') ?? mckp.formats_enabled,
      minItems: thresholds.array_of_objects_min_items,
      minKeyStability: thresholds.array_of_objects_min_key_stability,
      minFields: thresholds.flat_object_min_fields,
      minCols: thresholds.markdown_table_min_cols,
    },
    preferred: preferredFormat(config, named.names, data),
    budget: budgetFor(config, named),
    elision: {
      enabled: settingOf('elision_enabled') ?? config.elision.enabled,
      minBlockBytes: config.elision.min_block_bytes,
      maxRatio: settingOf('max_ratio') ?? config.elision.max_ratio,
      retrievingTools: config.elision.redeem_tools,
    },
    dedup: dedupFor(config, named, agent, hints),
    hints,
    view: viewFor(config, query, named.names),
  }
}

type Override = PipelineConfig['endpoint_overrides'][string]

function llmVariant({ active, variants }: ProfileAxes['llm'], model?: string): Partial<LlmVariant> {
  const named = Object.keys(variants).filter(name => name !== DEFAULT_VARIANT)
  const name = active === AUTO ? (matchModel(named, model) ?? DEFAULT_VARIANT) : active
  return own(variants, name) ?? {}
}

/** The file's values of a built-in variant are laid over it. */
function agentVariant({ active, variants }: ProfileAxes['agent']): AgentVariant {
  return { ...own(BUILT_IN_AGENTS, active), ...own(variants, active) }
}

/**
 * By the longest pattern that is the tool's name or its prefix; of equal ones the first by the
 * variant's name.
 */
function dataVariant({ active, variants }: ProfileAxes['data'], tool = ''): Partial<DataVariant> {
  if (active !== AUTO) return own(variants, active) ?? {}
  let best: Partial<DataVariant> = {}
  for (const name of Object.keys(variants).sort()) {
    const variant = variants[name] as DataVariant
    const { endpoint_pattern: pattern } = variant
    if (!tool.startsWith(pattern)) continue
    if (pattern.length > (best.endpoint_pattern?.length ?? 0)) best = variant
  }
  return best
}

/** By the most particular key that names the tool. */
function preferredFormat(
  { templates, endpoint_overrides }: PipelineConfig,
  names: ToolNames,
  { preferred_format }: Partial<DataVariant>,
): string | undefined {
  const format =
    names.find(endpoint_overrides, ({ template_id }) => template_id) ??
    names.find(templates.endpoint_overrides, template => template) ??
    preferred_format
  if (format === undefined || !Object.hasOwn(TEMPLATE_FORMATS, format)) return format
  const template = format as TemplateId
  return templates.active.includes(template) ? TEMPLATE_FORMATS[template] : undefined
}
