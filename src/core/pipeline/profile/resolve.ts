import type { Reading } from '../../reading/price.ts'
import type { DedupTerms } from '../../sessions/turn/dedup-terms.ts'
import { resolveTokenizer } from '../../tokens/profiles.ts'
import {
  AUTO,
  DEFAULT_PIPELINE,
  DEFAULT_VARIANT,
  TEMPLATE_FORMATS,
  type TemplateId,
  USUAL_LLM,
  USUAL_TOKENIZER,
} from './default-pipeline.ts'
import { own } from './key-path.ts'
import { matchModel } from './match-model.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import type { DataVariant, LlmVariant, ProfileAxes } from './profile-axes.ts'
import {
  type BudgetProfile,
  budgetFor,
  dedupFor,
  type HintProfile,
  hintsFor,
  type ProfileQuery,
  readingFor,
  type ViewProfile,
  viewFor,
} from './sections.ts'
import { ToolSettings } from './tool-settings.ts'

/** How values and texts are written; see `docs/reference/configuration.md`. */
export interface EncodingProfile {
  /** UTF-16 code units. */
  readonly maxInlineNested: number
  readonly recursionDepth: number
  /** Names of formats without their version. */
  readonly formats: readonly string[]
  readonly reading: Reading
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
  readonly leastSaved: LeastSaved
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

/** Most tokens that elision may leave, as a share of those of the smallest lossless text. */
const MOST_LEFT = 0.9

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
  const data = dataVariant(profiles.data, query.tool)
  const weights =
    tokenizer.active === AUTO ? (llm.tokenizer ?? resolveTokenizer(query)) : tokenizer.active
  const thresholds = mckp.shape_thresholds
  const settings = settingsWith(config, query, data)
  const hints = hintsFor(config, query, data?.variant)
  const reading = readingFor(config, query.reading, {
    level: llm.reading,
    bracketCost: (tokenizer.variants[weights] ?? USUAL_TOKENIZER).inline_json_cost,
    prefersKeys: llm.prefer_explicit_keys,
  })
  return {
    encoding: {
      maxInlineNested: llm.max_inline_nested ?? Number.POSITIVE_INFINITY,
      recursionDepth: settings.get('recursion_depth') ?? mckp.recursion_depth,
      formats: settings.get('formats') ?? mckp.formats_enabled,
      reading,
      minItems: thresholds.array_of_objects_min_items ?? 1,
      minKeyStability: thresholds.array_of_objects_min_key_stability ?? 0,
      minFields: thresholds.flat_object_min_fields ?? 1,
      minCols: thresholds.markdown_table_min_cols ?? 1,
    },
    preferred: preferredFormat(config, settings.get('template_id')),
    budget: budgetFor(config, query.tool, settings),
    elision: {
      enabled: settings.get('elision_enabled') ?? config.elision.enabled,
      minBlockBytes: config.elision.min_block_bytes,
      maxRatio: settings.get('max_ratio') ?? MOST_LEFT,
      leastSaved: leastSavedFor(query, settings),
      retrievingTools: config.elision.redeem_tools,
    },
    dedup: dedupFor(config, query.tool, settings, { hints, reading }),
    hints,
    view: viewFor(config, query, settings, llm.context_window),
  }
}

/** Tokens that leaving out saves at least, by what goes: parts of a text, or items of lists. */
export interface LeastSaved {
  readonly text: number
  readonly items: number
}

/**
 * A fetch reads the whole prompt again. With these numbers, 97 in 100 arguments of recorded calls
 * are in view: see `npm run bench -- recall`.
 */
const LEAST_SAVED: LeastSaved = { text: 6_000, items: 8_000 }

/**
 * None if the host wishes a number of tokens, or the tool may have one. Else the request's own;
 *none if its host names a level; else the tool's.
 */
function leastSavedFor(
  { min_saved_tokens: asked, response_budget: wish }: ProfileQuery,
  settings: ToolSettings,
): LeastSaved {
  const isBudget =
    typeof wish === 'number' ||
    (wish === undefined && settings.get('max_result_tokens') !== undefined)
  const named = wish === undefined ? settings.get('elision_min_saved_tokens') : 0
  const least = isBudget ? 0 : (asked ?? named)
  return least === undefined ? LEAST_SAVED : { text: least, items: least }
}

/** What is set for a call, and by which layer and name. */
export function settingsFor(config: PipelineConfig, query: ProfileQuery): ToolSettings {
  return settingsWith(config, query, dataVariant(config.profiles.data, query.tool))
}

function settingsWith(
  config: PipelineConfig,
  { tool, args }: ProfileQuery,
  data: NamedVariant | undefined,
): ToolSettings {
  const agent = config.profiles.agent.active
  return new ToolSettings(config, { tool, args, agent, data: data?.name })
}

function llmVariant({ active, variants }: ProfileAxes['llm'], model?: string): LlmVariant {
  const named = Object.keys(variants).filter(name => name !== DEFAULT_VARIANT)
  const name = active === AUTO ? (matchModel(named, model) ?? DEFAULT_VARIANT) : active
  return own(variants, name) ?? USUAL_LLM
}

/** A data variant and its name. */
interface NamedVariant {
  readonly name: string
  readonly variant: DataVariant
}

/**
 * By the longest pattern that is the tool's name or its prefix; of equal ones the first by the
 * variant's name.
 */
function dataVariant(
  { active, variants }: ProfileAxes['data'],
  tool = '',
): NamedVariant | undefined {
  const fixed = own(variants, active)
  if (active !== AUTO) return fixed && { name: active, variant: fixed }
  let best: NamedVariant | undefined
  for (const name of Object.keys(variants).sort()) {
    const variant = variants[name] as DataVariant
    const { endpoint_pattern: pattern } = variant
    if (!tool.startsWith(pattern)) continue
    if (pattern.length > (best?.variant.endpoint_pattern.length ?? 0)) best = { name, variant }
  }
  return best
}

/** @param format a template, or a format by name */
function preferredFormat({ templates }: PipelineConfig, format: string | undefined) {
  if (format === undefined || !Object.hasOwn(TEMPLATE_FORMATS, format)) return format
  const template = format as TemplateId
  return templates.active.includes(template) ? TEMPLATE_FORMATS[template] : undefined
}
