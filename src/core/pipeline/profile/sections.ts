import type { ResponseBudget } from '../../contract/response-budget.ts'
import type { HintFamily } from '../../hints/hint.ts'
import { HINT_FAMILIES } from '../../hints/hint.ts'
import { type HintRule, type HintsPolicy, intervalOf, isOn } from '../../hints/policy.ts'
import type { ReadingLevel } from '../../reading/constructs.ts'
import { createReading, type Reading } from '../../reading/price.ts'
import { STRATEGIES, type StrategyId, type Valuation } from '../../reduce/budget/strategies.ts'
import { strategyFor } from '../../reduce/trim/resolve-strategy.ts'
import { compileView, type View } from '../../reduce/views/compile-views.ts'
import type { ViewLevel } from '../../reduce/views/level.ts'
import { runTermsOf } from '../../sessions/lines/plan-lines.ts'
import type { DedupTerms } from '../../sessions/turn/dedup-terms.ts'
import type { TrimAlgorithm } from '../../solvers/tree/trim-tree.ts'
import { own } from './key-path.ts'
import { matchModel } from './match-model.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import type { DataVariant } from './profile-axes.ts'
import type { PressureStep } from './tool-keys.ts'
import type { ToolSettings } from './tool-settings.ts'

/** The fields of a request by which profiles are found. */
export interface ProfileQuery {
  readonly model?: string | undefined
  readonly tokenizer?: string | undefined
  /** The endpoint: the tool's name, and the call's arguments, which tell the class of a command. */
  readonly tool?: string | undefined
  readonly args?: unknown
  /** How hard the text may be to read; absent: as the configuration says. */
  readonly reading?: ReadingLevel | undefined
  /** What the host wishes for this result. */
  readonly response_budget?: ResponseBudget | undefined
  /** Tokens that leaving out parts of this result saves, at least. */
  readonly min_saved_tokens?: number | undefined
  /** Tokens in the agent's context before this result, since the last compaction. */
  readonly context_tokens?: number | undefined
}

/**
 * The policy of hints for one request; it has a rule for every family, and no model is left to look
 * for.
 */
export interface HintProfile extends HintsPolicy {
  readonly types: Readonly<Record<HintFamily, HintRule>>
  /**
   * Whether a note names the format if the endpoint's last result had another one. The
   * configuration must ask for it, with a rule of its own.
   */
  readonly comparesFormats: boolean
}

const EVERY_MODEL: readonly string[] = ['*']

/**
 * A family of hints is sent only if the policy, the model, the agent and the tool's data all allow
 * it.
 */
export function hintsFor(
  { hints, dedup }: PipelineConfig,
  { model }: ProfileQuery,
  { hint_set }: Partial<DataVariant> = {},
): HintProfile {
  const types = hint_set === undefined ? usualRules(hints, model) : rulesOf(hints, model, hint_set)
  const comparesFormats = hints.enabled && hints.types.format !== undefined && types.format.enabled
  return {
    enabled: hints.enabled,
    default_verbosity: dedup.hint_verbosity,
    types,
    comparesFormats,
  }
}

type HintsSection = PipelineConfig['hints']
type HintRules = HintProfile['types']

/** The rules for tools without a set of their own, by section and model. */
const usualRulesOf = new WeakMap<HintsSection, Map<string | undefined, HintRules>>()
/** Models remembered for a section: clients choose the names. */
const MAX_MODELS = 64

/** To find the rules takes a fiftieth of the time of a small content, so they are remembered. */
function usualRules(hints: HintsSection, model: string | undefined): HintRules {
  let known = usualRulesOf.get(hints)
  if (known === undefined || known.size >= MAX_MODELS) {
    known = new Map()
    usualRulesOf.set(hints, known)
  }
  let rules = known.get(model)
  if (rules === undefined) {
    rules = rulesOf(hints, model, HINT_FAMILIES)
    known.set(model, rules)
  }
  return rules
}

function rulesOf(
  hints: HintsSection,
  model: string | undefined,
  allowed: readonly HintFamily[],
): HintRules {
  const types = {} as Record<HintFamily, HintRule>
  for (const family of HINT_FAMILIES) {
    const rule = hints.types[family]
    const fits = rule === undefined || matchModel(rule.applies_to_models, model) !== undefined
    const enabled = isOn(family, rule) && fits && allowed.includes(family)
    const interval = enabled ? intervalOf(family) : undefined
    const { max_per_session: limit } = rule ?? {}
    types[family] = {
      enabled,
      ...(limit === undefined ? {} : { max_per_session: limit }),
      ...(interval === undefined ? {} : { interval_results: interval }),
      applies_to_models: EVERY_MODEL,
    }
  }
  return types
}

/** The section `dedup` for a tool and an agent. References that no hint may write are off. */
export function dedupFor(
  { dedup }: PipelineConfig,
  tool: string | undefined,
  settings: ToolSettings,
  { hints, reading }: { readonly hints: HintProfile; readonly reading: Reading },
): DedupTerms {
  const enabled = settings.get('dedup_enabled') ?? true
  const may = (family: HintFamily) => enabled && hints.enabled && hints.types[family].enabled
  return {
    exact: may('reference'),
    near: (settings.get('near_ref_enabled') ?? dedup.near_ref_enabled) && may('near_reference'),
    lines: may('lines'),
    lruSize: settings.get('lru_size') ?? dedup.lru_size,
    minBodyChars: settings.get('min_body_chars') ?? dedup.min_body_chars,
    references: runTermsOf(reading),
    hostBlocks: dedup.host_blocks,
    mutating: dedup.mutating_tools,
    stale: own(dedup.invalidates, tool) ?? [],
    verbosity: settings.get('hint_verbosity') ?? dedup.hint_verbosity,
  }
}

type ReadingSection = PipelineConfig['reading']

/** The readings of each section, by level and model: few, and the same for many requests. */
const readings = new WeakMap<ReadingSection, Map<string, Reading>>()

/** What a model and its tokenizer say of reading. */
interface ReadingOfModel {
  readonly level: ReadingLevel | undefined
  /** What a token in brackets costs, instead of 1: the tokenizer's `inline_json_cost`. */
  readonly bracketCost: number
  /** The model's `prefer_explicit_keys`. */
  readonly prefersKeys: boolean
}

/** Tables have to save this share against keys beside their values, if these are preferred. */
const CLEARLY_BETTER = 0.05

/** The level is the first that is set: of the request, the model, the section. */
export function readingFor(
  { reading }: PipelineConfig,
  asked: ReadingLevel | undefined,
  { level: ofModel, bracketCost, prefersKeys }: ReadingOfModel,
): Reading {
  const level = asked ?? ofModel ?? reading.level
  const known = readings.get(reading) ?? new Map<string, Reading>()
  const name = `${level} ${bracketCost} ${prefersKeys}`
  const found =
    known.get(name) ??
    createReading(level, {
      ...(bracketCost !== 1 && { brackets: { each: bracketCost - 1 } }),
      ...(prefersKeys && { table: { each: 1 / (1 - CLEARLY_BETTER) - 1 } }),
      ...reading.prices,
    })
  readings.set(reading, known.set(name, found))
  return found
}

/**
 * The value of a tool's parts for a budget. Fields of a more particular name, or of
 * a later layer, take precedence, one by one.
 */
export function budgetFor(
  { format_pipeline }: PipelineConfig,
  tool: string | undefined,
  settings: ToolSettings,
): BudgetProfile {
  const fields = settings.all('field_values').toReversed()
  return {
    strategy: settings.get('strategy') ?? strategyFor(tool) ?? 'default',
    algorithm: format_pipeline.algorithm,
    fields: new Map(fields.flatMap(each => Object.entries(each))),
  }
}

/** The parts of a tool's results that are kept first if a result does not fit a budget. */
export interface BudgetProfile {
  readonly strategy: StrategyId
  /** How a list of items is trimmed. */
  readonly algorithm: TrimAlgorithm | 'auto'
  /** Value of a field by its key, from 0; 1 if it is not named. */
  readonly fields: ReadonlyMap<string, number>
}

/** The value of parts for one request. The request's own strategy takes precedence. */
export function valuationOf(
  { strategy, fields }: BudgetProfile,
  requested?: StrategyId,
): Valuation {
  return { strategy: STRATEGIES[requested ?? strategy], fields }
}

/** How much of one result is shown. */
export interface ViewProfile {
  readonly level: ViewLevel
  /**
   * Tokens that the host wishes, or that the tool may have; then the mildest level that fits is
   * taken, from `level` on.
   */
  readonly tokens?: number
  /** In the order in which they are tried. */
  readonly views: readonly View[]
}

/** The views of each configuration of this thread. */
const compiled = new WeakMap<PipelineConfig, readonly View[]>()

/**
 * The level of a result: the request's own wish, else the level of its tool, else the level for
 * what its context has already, else the general one. Without a wish the tool's tokens hold too.
 */
export function viewFor(
  config: PipelineConfig,
  { response_budget: wish, context_tokens: before = 0 }: ProfileQuery,
  settings: ToolSettings,
  window: number | undefined,
): ViewProfile {
  if (typeof wish === 'number') return { level: 'full', tokens: wish, views: viewsOf(config) }
  const inForce = wish ?? levelOf(settings, before, window) ?? config.views.level
  const tokens = wish === undefined ? settings.get('max_result_tokens') : undefined
  if (tokens !== undefined) return { level: inForce, tokens, views: viewsOf(config) }
  return { level: inForce, views: inForce === 'full' ? [] : viewsOf(config) }
}

function levelOf(
  { entries }: ToolSettings,
  before: number,
  window: number | undefined,
): ViewLevel | undefined {
  const startOf = ({ from_tokens, from_share = 1 }: PressureStep) =>
    from_tokens ?? (window === undefined ? Number.POSITIVE_INFINITY : from_share * window)
  let steps: readonly PressureStep[] | undefined
  for (const { of, values } of entries) {
    // The steps of a section come before its general level.
    if (of === 'section' && steps === undefined && values.pressure !== undefined) {
      steps = values.pressure
      const step = steps.findLast(step => startOf(step) <= before)
      if (step !== undefined) return step.level
    }
    if (values.level !== undefined) return values.level
  }
  return undefined
}

function viewsOf(config: PipelineConfig): readonly View[] {
  let views = compiled.get(config)
  if (views === undefined) {
    views = config.knownViews?.map(compileView) ?? []
    compiled.set(config, views)
  }
  return views
}
