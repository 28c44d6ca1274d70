/** Every section of the predecessor's file, as its `save` writes them. */
export const SAVED = `schema_version = 4
[dedup]
lru_size = 5
hint_verbosity = "standard"
near_ref_enabled = false
min_body_chars = 200
[dedup.enabled_per_endpoint]
get_issues = false
[templates]
active = ["csv_from_md", "pipeline_deep_mckp", "mr_diff_fence"]
[templates.endpoint_overrides]
get_issues = "csv_from_md"
[mckp]
recursion_depth = 5
formats_enabled = ["csv_from_md", "deep_mckp", "kv", "csv", "json_compact"]
[mckp.shape_thresholds]
markdown_table_min_cols = 2
array_of_objects_min_items = 4
[telemetry]
enabled = false
[profiles.tokenizer]
active = "auto"
[profiles.tokenizer.variants.openai_o200k]
chars_per_token = 4.0
bpe = "o200k_base"
inline_json_cost = 1.0
toon_overhead = 0.6
[profiles.llm.variants.default]
tokenizer = "openai_o200k"
prefer_explicit_keys = true
context_window = 32000
[profiles.agent]
active = "auto"
auto_detect_window = 50
[profiles.agent.variants.marathon_refactor]
priority = "accuracy"
mckp_recursion_depth = 7
hint_aggressiveness = 0.7
near_ref_enabled = true
[profiles.data.variants.k8s_logs]
endpoint_pattern = "mcp__k8s__get_logs"
preferred_format = "pipeline_deep_mckp"
hint_set = ["timestamp_ref", "near_ref"]
[hints]
default_verbosity = "standard"
[hints.types.near_ref]
max_per_session = 50
[hints.types.inline_format_hint]
enabled = false
[hints.types.delta]
enabled = false
[tools.Read]
[enrichment]
enabled = false
`
