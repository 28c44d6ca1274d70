import type { KeyPath } from '../../core/pipeline/profile/key-path.ts'

/** A key or a table, in the words of this version, and what the predecessor writes there. */
type SavedDefault = readonly [path: KeyPath, value: unknown]

const variant = (axis: string, name: string, key: string): KeyPath => {
  return ['profiles', axis, 'variants', name, key]
}

const llm = (name: string, explicit: boolean, nested: number): readonly SavedDefault[] => [
  [variant('llm', name, 'prefer_explicit_keys'), explicit],
  [variant('llm', name, 'max_inline_nested'), nested],
]

const data = (name: string, pattern: string, format: string, hint_set: string[]): SavedDefault => [
  ['profiles', 'data', 'variants', name],
  { endpoint_pattern: pattern, preferred_format: format, hint_set },
]

/**
 * What the predecessor's `save` writes into each file by itself. Here these values cost tokens
 * (docs/reference/profiles.md), and most likely no person chose them.
 */
export const SAVED_DEFAULTS: readonly SavedDefault[] = [
  [['dedup', 'lru_size'], 5],
  [['mckp', 'recursion_depth'], 5],
  [
    ['mckp', 'formats_enabled'],
    ['md', 'tree', 'csv', 'json_compact'],
  ],
  [['mckp', 'shape_thresholds', 'markdown_table_min_cols'], 2],
  [['mckp', 'shape_thresholds', 'array_of_objects_min_items'], 4],
  [['mckp', 'shape_thresholds', 'array_of_objects_min_key_stability'], 0.7],
  [['mckp', 'shape_thresholds', 'flat_object_min_fields'], 8],
  [variant('tokenizer', 'anthropic_class', 'inline_json_cost'), 2.2],
  ...llm('default', true, 256),
  ...llm('glm-5.1', true, 128),
  ...llm('claude-sonnet-4.6', true, 64),
  ...llm('gpt-oss:20b', false, 512),
  ...llm('gemma4:26b', false, 512),
  [variant('agent', 'default', 'recursion_depth'), 5],
  [variant('agent', 'file_search_heavy', 'recursion_depth'), 3],
  [variant('agent', 'marathon_refactor', 'recursion_depth'), 7],
  data('gitlab_issues', 'mcp__gitlab__get_issues', 'csv_from_md', ['near_reference']),
  data('github_pulls', 'mcp__github__list_pulls', 'csv_from_md', ['near_reference']),
  data('k8s_logs', 'mcp__k8s__get_logs', 'pipeline_deep_mckp', []),
  data('mr_diffs', 'mcp__gitlab__get_mr_diff', 'mr_diff_fence', []),
  [['hints', 'types', 'near_reference', 'max_per_session'], 50],
  [['hints', 'types', 'format', 'max_per_session'], 10],
  [
    ['hints', 'types', 'format', 'applies_to_models'],
    ['gpt-oss:20b', 'gemma4:26b'],
  ],
]
