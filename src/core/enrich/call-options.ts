import type { ValueModel } from './value-model.ts'

/** One way to make a call: with which groups of fields. */
export interface CallOption {
  /** Groups that are included; `null` if the model names none, and all of the result is. */
  readonly include: readonly string[] | null
  readonly cost_tokens: number
  readonly value: number
}

/** What the value and cost of a call depend on, beside its model. */
export interface Appraisal {
  /** Keywords of the intent, in lower case. */
  readonly keywords: readonly string[]
  /** Tokens that most of its results stay within, if enough came. */
  readonly observedTokens?: number | undefined
  /** Whether slow and expensive calls are worth less. */
  readonly isCostAware?: boolean
}

const CLASS_VALUES = { critical: 1, supporting: 0.5, optional: 0.2, audit_only: 0 } as const
const BYTES_PER_TOKEN = 4
const MAX_BOOST = 2.5
/** At or above each of these a cost-aware planner halves the value. */
const SLOW_MS = 5_000
const EXPENSIVE_DOLLARS = 0.1

/**
 * Groups by convention, the most needed first (SOURCES.md#planner); others come after them by name.
 */
const GROUP_ORDER = ['must_have', 'nice_to_have', 'debug']

/** The value class · boost · penalty of a call that is certain to be used. */
export function callValue(model: ValueModel, { keywords, isCostAware }: Appraisal): number {
  const penalty = isCostAware ? costPenalty(model) : 1
  return CLASS_VALUES[model.value_class] * boostOf(model, keywords) * penalty
}

/** Tokens of a result: as observed, else by `typical_kb`; at least 1. */
export function callCost({ cost_model }: ValueModel, observedTokens?: number): number {
  const stated = (cost_model.typical_kb * 1_024) / BYTES_PER_TOKEN
  return Math.max(1, Math.ceil(observedTokens ?? stated))
}

/**
 * The ways to make a call: with its most needed group of fields, with one more, and so on. Each has
 * a part of the value by the groups' values, and a part of the cost by their numbers of fields.
 * Groups that are not included by default count only if the intent names one of their fields.
 */
export function callOptions(model: ValueModel, appraisal: Appraisal): readonly CallOption[] {
  const value = callValue(model, appraisal)
  const cost = callCost(model, appraisal.observedTokens)
  const groups = [...model.field_groups]
    .filter(([, group]) => group.default_include || isNamed(group.fields, appraisal.keywords))
    .sort(([a], [b]) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
  const allValue = groups.reduce((sum, [, { estimated_value }]) => sum + estimated_value, 0)
  const allFields = groups.reduce((sum, [, { fields }]) => sum + fields.length, 0)
  if (allValue === 0 || allFields === 0) return [{ include: null, cost_tokens: cost, value }]
  const include: string[] = []
  let [valueSoFar, fieldsSoFar] = [0, 0]
  return groups.map(([name, { estimated_value, fields }]) => {
    include.push(name)
    valueSoFar += estimated_value
    fieldsSoFar += fields.length
    return {
      include: [...include],
      cost_tokens: Math.max(1, Math.ceil((cost * fieldsSoFar) / allFields)),
      value: (value * valueSoFar) / allValue,
    }
  })
}

/**
 * Fields that a result leaves without: those of opt-in groups, except for fields whose name holds a
 * keyword of the intent.
 */
export function omittedFields(
  { field_groups }: Pick<ValueModel, 'field_groups'>,
  keywords: readonly string[],
): readonly string[] {
  const fieldsOf = (isUsual: boolean) =>
    [...field_groups.values()].flatMap(({ fields, default_include }) => {
      return default_include === isUsual ? fields : []
    })
  const usual = new Set(fieldsOf(true))
  return fieldsOf(false).filter(field => !usual.has(field) && !isNamed([field], keywords))
}

/** min(2.5, 1 + Σ estimated_value) over opt-in groups that the intent names. */
function boostOf({ field_groups }: ValueModel, keywords: readonly string[]): number {
  const named = [...field_groups.values()].filter(({ fields, default_include }) => {
    return !default_include && isNamed(fields, keywords)
  })
  const boost = named.reduce((sum, { estimated_value }) => sum + estimated_value, 1)
  return Math.min(MAX_BOOST, boost)
}

/** Whether a field's name contains a keyword, also in the singular; case does not matter. */
function isNamed(fields: readonly string[], keywords: readonly string[]): boolean {
  return fields.some(field => {
    const name = field.toLowerCase()
    return keywords.some(keyword => name.includes(keyword.replace(/s$/, '')))
  })
}

function costPenalty({ cost_model }: ValueModel): number {
  const { latency_ms_p50 = 0, dollars = 0 } = cost_model
  return (latency_ms_p50 >= SLOW_MS ? 0.5 : 1) * (dollars >= EXPENSIVE_DOLLARS ? 0.5 : 1)
}

function placeOf(group: string): number {
  const at = GROUP_ORDER.indexOf(group)
  return at === -1 ? GROUP_ORDER.length : at
}
