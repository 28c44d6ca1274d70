import type { ToolModel, ToolModels } from './value-model.ts'

const AUDIT_ONLY: ToolModel = { value_class: 'audit_only' }

/**
 * What is known of the tools of coding agents: sizes in kB, medians and the shares of follow-ups of
 * 258,000 recorded calls (SOURCES.md#planner, "Real-world patterns").
 */
export const BUILT_IN_MODELS: ToolModels = {
  Read: {
    value_class: 'critical',
    cost_model: { typical_kb: 2.5, max_kb: 43, latency_ms_p50: 50 },
    side_effect_class: 'pure',
    follow_up: [{ tool: 'Read', probability: 0.45 }],
  },
  Edit: {
    value_class: 'supporting',
    cost_model: { typical_kb: 0.2, max_kb: 1, latency_ms_p50: 20 },
    side_effect_class: 'mutates_local',
    follow_up: [
      { tool: 'Bash', probability: 0.27 },
      { tool: 'Read', probability: 0.14 },
    ],
    invalidates: ['Read', 'Grep'],
  },
  Write: {
    value_class: 'supporting',
    cost_model: { typical_kb: 0.2 },
    side_effect_class: 'mutates_local',
    invalidates: ['Read', 'Grep', 'Glob'],
  },
  MultiEdit: {
    value_class: 'supporting',
    cost_model: { typical_kb: 0.2 },
    side_effect_class: 'mutates_local',
    invalidates: ['Read', 'Grep'],
  },
  NotebookEdit: {
    value_class: 'supporting',
    cost_model: { typical_kb: 0.5 },
    side_effect_class: 'mutates_local',
    invalidates: ['Read'],
  },
  Bash: {
    value_class: 'critical',
    cost_model: { typical_kb: 0.2, max_kb: 9, latency_ms_p50: 200 },
  },
  Grep: {
    value_class: 'critical',
    cost_model: { typical_kb: 0.3, max_kb: 10.5, latency_ms_p50: 80 },
    side_effect_class: 'pure',
    follow_up: [
      { tool: 'Read', probability: 0.35, projection: 'path', projection_arg: 'file_path' },
      { tool: 'Edit', probability: 0.07, projection: 'path', projection_arg: 'file_path' },
      { tool: 'Grep', probability: 0.39 },
    ],
  },
  Glob: {
    value_class: 'supporting',
    cost_model: { typical_kb: 0.2, max_kb: 16.6, latency_ms_p50: 60 },
    side_effect_class: 'read_only',
    follow_up: [
      { tool: 'Read', probability: 0.32, projection: 'match_path', projection_arg: 'file_path' },
      { tool: 'Grep', probability: 0.13 },
      { tool: 'Glob', probability: 0.41 },
    ],
  },
  WebSearch: {
    value_class: 'supporting',
    cost_model: { typical_kb: 3.1, max_kb: 7.2, latency_ms_p50: 900, freshness_ttl_s: 3_600 },
    side_effect_class: 'read_only',
    follow_up: [{ tool: 'WebFetch', probability: 0.65, projection: 'url', projection_arg: 'url' }],
    field_groups: {
      must_have: { fields: ['title', 'url'], estimated_value: 1 },
      nice_to_have: { fields: ['snippet'], estimated_value: 0.3, default_include: false },
    },
  },
  WebFetch: {
    value_class: 'supporting',
    cost_model: { typical_kb: 1.2, max_kb: 24, latency_ms_p50: 800, freshness_ttl_s: 900 },
    side_effect_class: 'read_only',
  },
  ToolSearch: {
    value_class: 'supporting',
    cost_model: { typical_kb: 0, max_kb: 0.1 },
    side_effect_class: 'read_only',
    fail_fast_after_n: 2,
  },
  Agent: {
    value_class: 'supporting',
    cost_model: { typical_kb: 6.5, max_kb: 23.7, latency_ms_p50: 60_000 },
  },
  TaskUpdate: AUDIT_ONLY,
  TaskCreate: AUDIT_ONLY,
  TaskGet: AUDIT_ONLY,
  TaskList: AUDIT_ONLY,
  TodoWrite: AUDIT_ONLY,
}
