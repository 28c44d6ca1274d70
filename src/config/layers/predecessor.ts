/**
 * Everything that the predecessor's file has and this one has not, a line each: places, a word, and
 * what became of it. The word is a key of the table at a place, its value, or in its list. `*` is
 * any name. `-> name` is its name here, `-> [section]` a table of the service's own configuration,
 * `- why` says that it has no effect.
 */
export const PREDECESSOR = `
: telemetry -> [telemetry]
: tools -> [tools]
: enrichment -> [enrichment]
mckp.formats_enabled: csv_from_md -> md
mckp.formats_enabled profiles.data.variants.*.preferred_format: deep_mckp -> tree
mckp.formats_enabled profiles.data.variants.*.preferred_format: kv -> tree
mckp.formats_enabled: toon - TOON is none of the formats here, since it never wins
profiles.data.variants.*.preferred_format: toon - TOON is none of the formats here
profiles.tokenizer.active profiles.llm.variants.*.tokenizer: openai_o200k -> o200k_base
profiles.tokenizer.active profiles.llm.variants.*.tokenizer: openai_cl100k -> cl100k_base
profiles.tokenizer.variants: openai_o200k -> o200k_base
profiles.tokenizer.variants: openai_cl100k -> cl100k_base
profiles.tokenizer.variants.*: toon_overhead - TOON is none of the formats here, since it never wins
profiles.tokenizer.variants.*: chars_per_token - tokens are counted; profiles only weigh
profiles.tokenizer.variants.*: bpe - tokens are counted; profiles only weigh
profiles.tokenizer.variants.*: format_factors - formats are compared by counted tokens
profiles.agent: auto_detect_window - a variant is set by name, so that a session does not change
profiles.agent.variants.*: priority - choices take no time that could be saved; set recursion_depth
profiles.agent.variants.*: hint_aggressiveness - a hint is sent if it saves; set hints.types
profiles.agent.variants.*: mckp_recursion_depth -> recursion_depth
hints: default_verbosity - dedup.hint_verbosity is for all hints
hints.types profiles.data.variants.*.hint_set: near_ref -> near_reference
hints.types profiles.data.variants.*.hint_set: inline_format_hint -> format
hints.types profiles.data.variants.*.hint_set: timestamp_ref - a near reference says what changed
hints.types profiles.data.variants.*.hint_set: delta - a near reference says what changed
hints.types profiles.data.variants.*.hint_set: schema_explainer - a model reads each format without
`

/**
 * What the predecessor's `save` writes into each file by itself, in its own words. Here these
 * values cost tokens (docs/reference/configuration.md), and most likely no person chose them.
 */
export const SAVED_DEFAULTS = `
[dedup]
lru_size = 5
[mckp]
recursion_depth = 5
formats_enabled = ["csv_from_md", "deep_mckp", "kv", "csv", "json_compact"]
shape_thresholds.markdown_table_min_cols = 2
shape_thresholds.array_of_objects_min_items = 4
shape_thresholds.array_of_objects_min_key_stability = 0.7
shape_thresholds.flat_object_min_fields = 8
[hints.types]
near_ref.max_per_session = 50
inline_format_hint = { max_per_session = 10, applies_to_models = ["gpt-oss:20b", "gemma4:26b"] }
[profiles]
tokenizer.variants.anthropic_class.inline_json_cost = 2.2
[profiles.llm.variants]
default = { prefer_explicit_keys = true, max_inline_nested = 256 }
"glm-5.1" = { prefer_explicit_keys = true, max_inline_nested = 128 }
"claude-sonnet-4.6" = { prefer_explicit_keys = true, max_inline_nested = 64 }
"gpt-oss:20b" = { prefer_explicit_keys = false, max_inline_nested = 512 }
"gemma4:26b" = { prefer_explicit_keys = false, max_inline_nested = 512 }
[profiles.agent.variants]
default.mckp_recursion_depth = 5
file_search_heavy.mckp_recursion_depth = 3
marathon_refactor.mckp_recursion_depth = 7
[profiles.data.variants.gitlab_issues]
endpoint_pattern = "mcp__gitlab__get_issues"
preferred_format = "csv_from_md"
hint_set = ["near_ref"]
[profiles.data.variants.github_pulls]
endpoint_pattern = "mcp__github__list_pulls"
preferred_format = "csv_from_md"
hint_set = ["near_ref"]
[profiles.data.variants.k8s_logs]
endpoint_pattern = "mcp__k8s__get_logs"
preferred_format = "pipeline_deep_mckp"
hint_set = []
[profiles.data.variants.mr_diffs]
endpoint_pattern = "mcp__gitlab__get_mr_diff"
preferred_format = "mr_diff_fence"
hint_set = []
`
