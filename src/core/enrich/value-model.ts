import { z } from 'zod'

/** What a result is for, the most important first (SOURCES.md#planner, "Annotation taxonomy"). */
const VALUE_CLASSES = ['critical', 'supporting', 'optional', 'audit_only'] as const

/** What a call changes. Only the first two can be called ahead. */
const SIDE_EFFECTS = [
  'pure',
  'read_only',
  'mutates_local',
  'mutates_external',
  'indeterminate',
] as const

export type ValueClass = (typeof VALUE_CLASSES)[number]
export type SideEffect = (typeof SIDE_EFFECTS)[number]

const name = z.string().min(1).max(512)
const share = z.number().min(0).max(1)
const seconds = z.number().min(0).max(31_536_000)
const kilobytes = z.number().min(0).max(1_000_000)
const milliseconds = z.number().min(0).max(86_400_000)

const fieldGroup = z.strictObject({
  fields: z.array(name).max(1_000).optional(),
  estimated_value: share.optional(),
  default_include: z.boolean().optional(),
})

const costModel = z.strictObject({
  typical_kb: kilobytes.optional(),
  max_kb: kilobytes.optional(),
  latency_ms_p50: milliseconds.optional(),
  dollars: z.number().min(0).max(1_000_000).optional(),
  freshness_ttl_s: seconds.optional(),
})

const followUp = z.strictObject({
  tool: name,
  probability: share.optional(),
  /** The key in the trigger's result whose values become an argument. */
  projection: name.optional(),
  /** The argument that they become. */
  projection_arg: name.optional(),
  /** A tool whose result has the arguments: the call is planned only together with it. */
  requires: name.optional(),
})

/**
 * What one layer states of a tool (`[tools.NAME]`). Every field is optional: what is absent comes
 * from the layers below, at last from the defaults.
 */
export const toolModelSchema = z.strictObject({
  value_class: z.enum(VALUE_CLASSES).optional(),
  field_groups: z.record(name, fieldGroup).optional(),
  cost_model: costModel.optional(),
  follow_up: z.array(followUp).max(100).optional(),
  /** Tools whose kept results a call of this one makes stale. */
  invalidates: z.array(name).max(1_000).optional(),
  fail_fast_after_n: z.int().min(1).max(1_000).optional(),
  rate_limit_host: z.string().min(1).max(255).optional(),
  poll_ttl_s: seconds.optional(),
  side_effect_class: z.enum(SIDE_EFFECTS).optional(),
  /** `false` forbids calls ahead; `true` lists the tool by name. */
  speculate: z.boolean().optional(),
})

export type ToolModel = z.output<typeof toolModelSchema>

/** Models by the names of tools; `"*"` is for tools that have no other. */
export type ToolModels = Readonly<Record<string, ToolModel>>

interface FieldGroup {
  readonly fields: readonly string[]
  readonly estimated_value: number
  readonly default_include: boolean
}

export type FollowUp = z.output<typeof followUp> & { readonly probability: number }

/** What is in force for a tool: all layers merged, and defaults for the rest. */
export interface ValueModel
  extends Pick<ToolModel, 'fail_fast_after_n' | 'rate_limit_host' | 'poll_ttl_s' | 'speculate'> {
  readonly value_class: ValueClass
  readonly field_groups: ReadonlyMap<string, FieldGroup>
  readonly cost_model: NonNullable<ToolModel['cost_model']> & { readonly typical_kb: number }
  readonly follow_up: readonly FollowUp[]
  readonly invalidates: readonly string[]
  readonly side_effect_class: SideEffect
}

const DEFAULT_PROBABILITY = 0.5
const DEFAULT_GROUP = { estimated_value: 0.5, default_include: true } as const
const DEFAULT_TYPICAL_KB = 1

/** A model with the defaults for what it does not state. */
export function fillModel(stated: ToolModel): ValueModel {
  const { value_class, field_groups, cost_model, follow_up, invalidates, ...rest } = stated
  return {
    ...rest,
    value_class: value_class ?? 'critical',
    side_effect_class: stated.side_effect_class ?? 'indeterminate',
    cost_model: { ...cost_model, typical_kb: cost_model?.typical_kb ?? DEFAULT_TYPICAL_KB },
    field_groups: new Map(
      Object.entries(field_groups ?? {}).map(([group, { fields = [], ...stated }]) => [
        group,
        { ...DEFAULT_GROUP, ...stated, fields } as FieldGroup,
      ]),
    ),
    follow_up: (follow_up ?? []).map(link => ({
      ...link,
      probability: link.probability ?? DEFAULT_PROBABILITY,
    })),
    invalidates: invalidates ?? [],
  }
}

/**
 * `right` over `left`, field by field. The figures of `cost_model` and the groups of `field_groups`
 * are fields of their own. Lists replace each other whole, so that a user can take links away.
 */
export function mergeModels(left: ToolModel, right: ToolModel): ToolModel {
  const merged: ToolModel = { ...left, ...right }
  if (left.cost_model !== undefined && right.cost_model !== undefined) {
    merged.cost_model = { ...left.cost_model, ...right.cost_model }
  }
  if (left.field_groups !== undefined && right.field_groups !== undefined) {
    const groups = new Map(Object.entries(left.field_groups))
    for (const [group, stated] of Object.entries(right.field_groups)) {
      groups.set(group, { ...groups.get(group), ...stated })
    }
    merged.field_groups = Object.fromEntries(groups)
  }
  return merged
}
