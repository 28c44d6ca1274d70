const PRICED = 'reading.prices has the price of a reference'

const BY_TOOL = 'dedup.enabled_per_endpoint has references of a tool'

/** What is in the place of keys that files of earlier versions have; `*` is any name. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'store.redis.wait_ms': 'it is as long as store.redis.call_timeout_ms',
  'store.redis.probe_ms': 'it is 5 times store.redis.call_timeout_ms',
  'store.redis.record_wait_ms': 'it is 20 times store.redis.call_timeout_ms',
  'store.redis.outage_wait_ms': 'it is 200 times store.redis.call_timeout_ms',
  'store.redis.breaker_failures': 'it is always 5',
  'store.redis.repair_ms': 'it is always 10 s',
  'store.redis.repair_bytes': 'it is always 64 MiB',
  'store.redis.open_bytes': 'it is always 256 KiB',
  'store.redis.ca_file': 'the variable NODE_EXTRA_CA_CERTS names the file',
  'store.redis.cert_file': 'the URL of store.redis.url has user and password',
  'store.redis.key_file': 'the URL of store.redis.url has user and password',
  'store.compress': 'texts of 8 KiB and more are always compressed',
  pipeline_config_file: 'the variable HAVERSACK_PIPELINE_CONFIG names the file',
  cache_dir: 'the variable HAVERSACK_CACHE_DIR names the folder',
  traces: 'the variables OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_TRACES_SAMPLER_ARG have both keys',
  'store.session_ttl_ms': 'it is as long as store.original_ttl_ms',
  'store.tenants.*.session_ttl_ms': 'it is as long as original_ttl_ms',
  'proxy.anthropic_forgets': 'an entry of proxy.upstreams has forgets',
  'proxy.openai_forgets': 'an entry of proxy.upstreams has forgets',
  'proxy.rewrite_ttl_ms': 'it is always a week',
  'ledger.max_bytes': 'it is always 256 MiB',
  'ledger.ttl_ms': 'it is always a week',
  'ledger.max_rows': 'it is always 100,000',
  'ledger.days': 'it is always 400',
  'telemetry.max_bytes': 'it is always 1 GiB',
  'telemetry.event_ttl_ms': 'it is always 30 days',
  'telemetry.summary_ttl_ms': 'it is always 90 days',
  'limits.idle_timeout_ms': 'it is always 620 s',
  sessions: 'its limits are always 64 MiB, 100,000 sessions and 500,000 entries',
  'proxy.rewrite_memory_bytes': 'it is always 64 MiB',
  'proxy.https_proxy': 'the variable HTTPS_PROXY names the proxy',
  'proxy.no_proxy': 'the variable NO_PROXY names the hosts',
  'proxy.connect_timeout_ms': 'it is always 10 s',
  'proxy.headers_timeout_ms': 'it is always 10 minutes',
  'proxy.idle_timeout_ms': 'it is always 5 minutes',
  'proxy.total_timeout_ms': 'it is always 1 hour',
  'proxy.max_rewrite_bytes': 'it is always 32 MiB',
  'limits.max_queue_bytes': 'it is 8 times limits.max_body_bytes',
  'limits.max_queue_jobs': 'it is always 1,024',
  'limits.header_timeout_ms': 'it is always 10 s',
  'limits.request_timeout_ms': 'it is always 30 s',
  'limits.envelope_depth': 'it is always 64',
  'limits.envelope_values': 'it is always 4,000,000',
  'limits.content_depth': 'it is always 256',
  'telemetry.rotate_bytes': 'it is always 8 MiB',
  'telemetry.idle_ms': 'it is always 30 minutes',
  'fingerprints.team.member': 'the name is random, and reveals nothing',
  'fingerprints.providers.*.member': 'the name is random, and reveals nothing',
  'mcp.search.above_tokens': 'it is always 6,000',
  'mcp.servers.*.per_tool':
    'endpoint_overrides has elision_enabled and max_result_tokens of a tool',
  'enrichment.min_probability': 'it is always 0.25',
  'tune.interval_ms': 'it is always a week',
  budget: 'format_pipeline.strategies has "*", and endpoint_overrides."*" has field_values',
  'format_pipeline.default_format': 'requests name their formats, or mckp.formats_enabled does',
  'endpoint_overrides.*.dedup_enabled': 'dedup.enabled_per_endpoint is in its place',
  'endpoint_overrides.*.template_id': 'templates.endpoint_overrides is in its place',
  'endpoint_overrides.*.strategy': 'format_pipeline.strategies is in its place',
  'endpoint_overrides.*.near_ref_enabled': BY_TOOL,
  'endpoint_overrides.*.lines_enabled': BY_TOOL,
  'profiles.agent.variants.*.lines_enabled': 'hints.types has enabled of the family lines',
  'profiles.agent.variants.*.hints_enabled': 'hints.enabled is for all agents',
  'cache_align.detect': 'changes are always looked for',
  'enrichment.mined_file': 'it is mined.toml in data_dir',
  'dedup.near_ref_max_delta_bytes': 'it is always 50',
  'dedup.near_ref_min_body_bytes': 'it is always 500',
  'elision.own_tools': 'all of elision.redeem_tools fetch from this service',
  'arms.revert': 'elision that costs more than it saves is always switched off',
  'clearing.min_bytes': 'each result may go that is longer than its stub',
  'clearing.least_tokens': 'each result may go that is longer than its stub',
  'clearing.cache_life_seconds': 'prices.toml has how long caches live',
  'views.on': 'a view is on unless its file says enabled = false',
  'views.off': 'a view of that name with enabled = false, in a file of views.files',
  'elision.max_ratio': 'it is 0.9; endpoint_overrides has that of a tool',
  'dedup.lines_enabled': 'hints.types has enabled of the family lines',
  'steering.accept_cache_loss': 'steering.mechanical_effort alone loses the cache',
  'dedup.lines_min_saved_tokens': PRICED,
  'endpoint_overrides.*.lines_min_saved_tokens': PRICED,
  'profiles.agent.variants.*.lines_min_saved_tokens': PRICED,
}

/** What is in the place of a key; `undefined`: it never was one. */
export function removedKey(path: readonly PropertyKey[]): string | undefined {
  const names = path.map(String)
  const found = PATTERNS.find(
    ([parts]) =>
      parts.length === names.length && parts.every((part, i) => part === '*' || part === names[i]),
  )
  return found?.[1]
}

const PATTERNS = Object.entries(REMOVED_KEYS).map(([key, what]) => [key.split('.'), what] as const)
