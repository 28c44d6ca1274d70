import type { Verbosity } from '../../hints/hint.ts'
import type { StrategyId } from '../../reduce/budget/strategies.ts'
import type { ViewLevel } from '../../reduce/views/level.ts'

/** A level by what the agent's context has already. */
export interface PressureStep {
  readonly from_tokens?: number | undefined
  /** A share of the model's context window; without one the step never begins. */
  readonly from_share?: number | undefined
  readonly level: ViewLevel
}

/** What can be set for a tool. */
export interface ToolValues {
  readonly dedup_enabled: boolean
  readonly lru_size: number
  readonly min_body_chars: number
  readonly near_ref_enabled: boolean
  readonly hint_verbosity: Verbosity
  /** A template, or a format by name. */
  readonly template_id: string
  readonly formats: readonly string[]
  readonly elision_enabled: boolean
  readonly elision_min_saved_tokens: number
  readonly max_ratio: number
  readonly max_result_tokens: number
  readonly strategy: StrategyId
  readonly field_values: Readonly<Record<string, number>>
  readonly level: ViewLevel
  readonly pressure: readonly PressureStep[]
  readonly recursion_depth: number
}

export type ToolKey = keyof ToolValues

/** A section and a key of it. */
type SectionKey = readonly [section: string, key: string]

/** Where a layer has a key, beside `endpoint_overrides`. */
export interface KeyPlaces {
  /** A record of values by the same names. */
  readonly record?: SectionKey
  /** A key of the agent's variant, and of the data variant. */
  readonly agent?: string
  readonly data?: string
  /** What is for all tools that nothing else names. */
  readonly section?: SectionKey
}

/**
 * Each key by tool, with its places in a layer from the most particular on. One table for the
 * lookup and for `config show`.
 */
export const TOOL_KEYS: Readonly<Record<ToolKey, KeyPlaces>> = {
  dedup_enabled: { record: ['dedup', 'enabled_per_endpoint'] },
  lru_size: { section: ['dedup', 'lru_size'] },
  min_body_chars: { section: ['dedup', 'min_body_chars'] },
  near_ref_enabled: { agent: 'near_ref_enabled', section: ['dedup', 'near_ref_enabled'] },
  hint_verbosity: { section: ['dedup', 'hint_verbosity'] },
  template_id: { record: ['templates', 'endpoint_overrides'], data: 'preferred_format' },
  formats: { section: ['mckp', 'formats_enabled'] },
  elision_enabled: { section: ['elision', 'enabled'] },
  elision_min_saved_tokens: {},
  max_ratio: {},
  max_result_tokens: {},
  strategy: { record: ['format_pipeline', 'strategies'] },
  field_values: {},
  level: { record: ['views', 'levels'], section: ['views', 'level'] },
  pressure: { section: ['views', 'pressure'] },
  recursion_depth: { agent: 'recursion_depth', section: ['mckp', 'recursion_depth'] },
}

/** Where a file says a key for one name: in the key's record, if it has one. */
export function pathOfToolKey(key: ToolKey, name: string): readonly string[] {
  const { record } = TOOL_KEYS[key]
  return record === undefined ? ['endpoint_overrides', name, key] : [...record, name]
}

export const TOOL_KEY_NAMES = Object.keys(TOOL_KEYS) as readonly ToolKey[]
