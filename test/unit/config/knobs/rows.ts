import { page } from '../../../support/made-text.ts'
import {
  DIFF,
  FAR_JOBS,
  FORMATS,
  JOBS,
  LINES,
  LOG,
  MANY,
  NESTED,
  REMINDED,
  ROWS,
  read,
  SAME,
  WORDY,
} from './fixtures.ts'
import type { Entry, Play } from './play.ts'

/** What shows the effect of each key, or why nothing does. */
export type Rows = Readonly<Record<string, Shown | string>>

export interface Shown extends Play {
  /** The configuration with the key, and without. */
  readonly with: object
  readonly without?: object
  /** Reasons by entry; there the key must change nothing. */
  readonly not?: { readonly [E in Entry]?: string }
}

const PROXIES = ['messages', 'chat', 'responses'] as const

function at(entries: readonly Entry[], reason: string): NonNullable<Shown['not']> {
  return Object.fromEntries(entries.map(entry => [entry, reason]))
}

const COMPARES = at(['dedup'], '/v1/dedup compares whole results; it writes no format')
const WHOLE = at(['dedup'], '/v1/dedup refers to whole results alone')
const STALE = at(
  ['compress', ...PROXIES],
  'a reference in a request claims only that the request has the text, not that a file still has it',
)
const NAMED = at(
  ['compress', ...PROXIES],
  'a reference within a request always names its call, since its reader has nothing else',
)
const NO_BUDGET = at(PROXIES, 'a proxied request has no budget of tokens')
const ITEMS = { ...COMPARES, ...NO_BUDGET }
const ELIDED = at(['dedup'], '/v1/dedup leaves nothing out')
const ASKED = at(
  ['compress'],
  '/v1/compress leaves out only what its request or the pressure asks for',
)
const ONLY_PROXIES = at(
  ['encode', 'dedup', 'batch', 'compress', 'mcp'],
  'only proxied requests have what it is about',
)
const ARMS =
  'a share that a service draws with a secret: test/integration/service/proxy-arms.test.ts'
const NOTES = at(
  ['dedup', 'compress', ...PROXIES, 'mcp'],
  'only a request to /v1/encode tells of pages',
)

const near = { dedup: { near_ref_enabled: true }, hints: { types: { lines: { enabled: false } } } }
const nearWith = (more: object) => ({ ...near, dedup: { ...near.dedup, ...more } })
const trim = { mode: 'trim', budget: 150 } as const
const compact = { wish: 'compact' } as const
/** A wish has no least number of tokens, so the level is configured. */
const levelled = (config: object) => {
  const views = { level: 'compact' }
  return { contextTokens: 1, with: { views, ...config }, without: { views } }
}
const ofTool = (tool: string, fields: object) => ({ endpoint_overrides: { [tool]: fields } })
const hintsOf = (family: string, rule: object) => ({ hints: { types: { [family]: rule } } })
const effort = { effort: 'low' }
const reasons = {
  output_config: { effort: 'high' },
  reasoning_effort: 'high',
  reasoning: { effort: 'high' },
}
const mechanical = {
  mechanical_effort: 'low',
  base_effort: 'medium',
}
const PROMPT = { system: 'Be good.', instructions: 'Be good.' }
const clearing = { enabled: true }
const cleared = { results: MANY, mode: 'elide', not: ONLY_PROXIES } as const
const clearingWith = (more: object) => ({ clearing: { ...clearing, ...more } })

/** Every key of `pipeline_config.toml`. */
export const ROWS_OF_KEYS: Rows = {
  schema_version: 'names the schema that the file is read by',

  'dedup.lru_size': { results: FAR_JOBS, without: near, with: nearWith({ lru_size: 1 }) },
  'dedup.hint_verbosity': {
    results: SAME,
    with: { dedup: { hint_verbosity: 'terse' } },
    not: NAMED,
  },
  'dedup.min_body_chars': { results: SAME, with: { dedup: { min_body_chars: 5_000 } } },
  'dedup.enabled_per_endpoint.*': {
    results: SAME,
    with: { dedup: { enabled_per_endpoint: { Read: false } } },
  },
  'dedup.near_ref_enabled': { results: JOBS, with: { dedup: { near_ref_enabled: false } } },
  'dedup.host_blocks': {
    results: REMINDED,
    with: { dedup: { host_blocks: ['system-reminder'] } },
    not: WHOLE,
  },
  'dedup.mutating_tools': {
    results: [
      read('a', page(1)),
      {
        tool: 'Edit',
        args: { file_path: '/src/a' },
        text: 'It is done, and nothing else is to be said.',
      },
      read('a', page(1)),
    ],
    without: { hints: { types: { lines: { enabled: false } } } },
    with: { hints: { types: { lines: { enabled: false } } }, dedup: { mutating_tools: [] } },
    not: STALE,
  },
  'dedup.invalidates.*': {
    results: [
      read('a', page(1)),
      { tool: 'Build', text: 'It is done, and nothing else is to be said.' },
      read('a', page(1)),
    ],
    without: { hints: { types: { lines: { enabled: false } } } },
    with: {
      hints: { types: { lines: { enabled: false } } },
      dedup: { invalidates: { Build: ['Read'] } },
    },
    not: STALE,
  },

  'templates.active': {
    results: WORDY,
    without: { templates: { endpoint_overrides: { list: 'pipeline_deep_mckp' } } },
    with: { templates: { endpoint_overrides: { list: 'pipeline_deep_mckp' }, active: [] } },
    not: COMPARES,
  },
  'templates.endpoint_overrides.*': {
    results: WORDY,
    with: { templates: { endpoint_overrides: { list: 'pipeline_deep_mckp' } } },
    not: COMPARES,
  },
  'mckp.recursion_depth': {
    results: NESTED,
    with: { mckp: { recursion_depth: 0 } },
    not: COMPARES,
  },
  'mckp.formats_enabled': { results: ROWS, with: { mckp: { formats_enabled: [] } }, not: COMPARES },
  'mckp.shape_thresholds.*': {
    results: ROWS,
    with: { mckp: { shape_thresholds: { array_of_objects_min_items: 1_000 } } },
    not: COMPARES,
  },

  'format_pipeline.budget_tokens': {
    results: ROWS,
    mode: 'trim',
    with: { format_pipeline: { budget_tokens: 150 } },
    not: {
      ...ITEMS,
      ...at(['compress'], '/v1/compress trims to the budget of its request alone'),
    },
  },
  'format_pipeline.strategies.*': {
    results: ROWS,
    ...trim,
    with: { format_pipeline: { strategies: { list: 'trailing' } } },
    not: ITEMS,
  },
  'format_pipeline.algorithm': {
    results: ROWS,
    ...trim,
    with: { format_pipeline: { algorithm: 'head_tail' } },
    not: ITEMS,
  },

  'elision.enabled': {
    results: LOG,
    ...compact,
    with: { elision: { enabled: false } },
    not: ELIDED,
  },
  'elision.in_proxies': {
    results: LOG,
    mode: 'elide',
    with: { elision: { in_proxies: false } },
    not: ONLY_PROXIES,
  },
  'elision.min_block_bytes': {
    results: LOG,
    ...compact,
    with: { elision: { min_block_bytes: 1_000_000 } },
    not: ELIDED,
  },
  'elision.redeem_tools': {
    results: LOG,
    ...compact,
    with: { elision: { redeem_tools: ['Bash'] } },
    not: ELIDED,
  },

  'views.level': {
    results: DIFF,
    contextTokens: 1,
    with: { views: { level: 'compact' } },
    not: { ...ELIDED, ...ASKED },
  },
  'views.levels.*': {
    results: DIFF,
    contextTokens: 1,
    with: { views: { levels: { Bash: 'compact' } } },
    not: { ...ELIDED, ...ASKED },
  },
  'views.files': 'names files that are read with the configuration; test/unit/config/views.test.ts',
  'views.pressure': {
    results: [read('a', page(4)), ...DIFF],
    contextTokens: 100,
    with: { views: { pressure: [{ from_tokens: 1, level: 'compact' }] } },
    not: { ...ELIDED, ...at(['mcp'], 'a tool call does not tell how much the context has') },
  },

  'clearing.enabled': { ...cleared, with: { clearing } },
  'clearing.exclude': {
    ...cleared,
    without: { clearing },
    with: clearingWith({ exclude: ['Read'] }),
  },

  'endpoint_overrides.*.lru_size': {
    results: FAR_JOBS,
    without: near,
    with: { ...near, ...ofTool('get_job', { lru_size: 1 }) },
  },
  'endpoint_overrides.*.min_body_chars': {
    results: SAME,
    with: ofTool('Read', { min_body_chars: 5_000 }),
  },
  'endpoint_overrides.*.hint_verbosity': {
    results: SAME,
    with: ofTool('Read', { hint_verbosity: 'terse' }),
    not: NAMED,
  },
  'endpoint_overrides.*.formats': {
    results: ROWS,
    with: ofTool('list', { formats: [] }),
    not: COMPARES,
  },
  'endpoint_overrides.*.elision_enabled': {
    results: LOG,
    ...compact,
    with: ofTool('Bash', { elision_enabled: false }),
    not: ELIDED,
  },
  'endpoint_overrides.*.elision_min_saved_tokens': {
    results: LOG,
    ...levelled(ofTool('Bash', { elision_min_saved_tokens: 1_000_000 })),
    not: { ...ELIDED, ...ASKED },
  },
  'endpoint_overrides.*.max_ratio': {
    results: LOG,
    ...compact,
    with: ofTool('Bash', { max_ratio: 0.001 }),
    not: ELIDED,
  },
  'endpoint_overrides.*.max_result_tokens': {
    results: LOG,
    mode: 'elide',
    with: ofTool('Bash', { max_result_tokens: 80 }),
    not: { ...ELIDED, ...ASKED },
  },
  'endpoint_overrides.*.field_values.*': {
    results: ROWS,
    ...trim,
    with: ofTool('list', { field_values: { more: 100, id: 0, name: 0 } }),
    not: ITEMS,
  },

  'profiles.tokenizer.active': {
    results: NESTED,
    without: { profiles: { tokenizer: { variants: { cl100k_base: { inline_json_cost: 10 } } } } },
    with: {
      profiles: {
        tokenizer: { active: 'cl100k_base', variants: { cl100k_base: { inline_json_cost: 10 } } },
      },
    },
    not: COMPARES,
  },
  'profiles.tokenizer.variants.*.inline_json_cost': {
    results: NESTED,
    with: {
      profiles: {
        tokenizer: {
          variants: {
            o200k_base: { inline_json_cost: 10 },
            openai_o200k: { inline_json_cost: 10 },
          },
        },
      },
    },
    not: COMPARES,
  },
  'profiles.llm.active': {
    results: NESTED,
    without: { profiles: { llm: { variants: { other: { max_inline_nested: 0 } } } } },
    with: {
      profiles: { llm: { active: 'other', variants: { other: { max_inline_nested: 0 } } } },
    },
    not: COMPARES,
  },
  'profiles.llm.variants.*.tokenizer': {
    results: NESTED,
    model: 'gpt-5',
    without: { profiles: { tokenizer: { variants: { cl100k_base: { inline_json_cost: 10 } } } } },
    with: {
      profiles: {
        tokenizer: { variants: { cl100k_base: { inline_json_cost: 10 } } },
        llm: { variants: { 'gpt-5': { tokenizer: 'cl100k_base' } } },
      },
    },
    not: { ...COMPARES, ...at(['mcp'], 'a tool call does not tell the model') },
  },
  'reading.level': 'the tests of the pipeline and of prices have the levels',
  'reading.prices.*': 'the tests of the pipeline and of prices have the levels',
  'profiles.llm.variants.*.reading': 'the tests of the pipeline and of prices have the levels',
  'profiles.llm.variants.*.prefer_explicit_keys': {
    results: WORDY,
    with: { profiles: { llm: { variants: { default: { prefer_explicit_keys: true } } } } },
    not: COMPARES,
  },
  'profiles.llm.variants.*.context_window': {
    results: [read('a', page(4)), ...DIFF],
    contextTokens: 1_000,
    without: { views: { pressure: [{ from_share: 0.001, level: 'compact' }] } },
    with: {
      profiles: { llm: { variants: { default: { context_window: 1_000 } } } },
      views: { pressure: [{ from_share: 0.001, level: 'compact' }] },
    },
    not: { ...ELIDED, ...at(['mcp'], 'a tool call does not tell how much the context has') },
  },
  'profiles.llm.variants.*.max_inline_nested': {
    results: NESTED,
    with: { profiles: { llm: { variants: { default: { max_inline_nested: 0 } } } } },
    not: COMPARES,
  },
  'profiles.agent.active': {
    results: JOBS,
    with: { profiles: { agent: { active: 'file_search_heavy' } } },
  },
  'profiles.agent.variants.*.recursion_depth': {
    results: NESTED,
    with: { profiles: { agent: { variants: { default: { recursion_depth: 0 } } } } },
    not: COMPARES,
  },
  'profiles.agent.variants.*.near_ref_enabled': {
    results: JOBS,
    with: { profiles: { agent: { variants: { default: { near_ref_enabled: false } } } } },
  },
  'profiles.data.active': {
    results: WORDY,
    without: {
      profiles: {
        data: { variants: { other: { endpoint_pattern: 'other', preferred_format: 'tree' } } },
      },
    },
    with: {
      profiles: {
        data: {
          active: 'other',
          variants: { other: { endpoint_pattern: 'other', preferred_format: 'tree' } },
        },
      },
    },
    not: COMPARES,
  },
  'profiles.data.variants.*.endpoint_pattern': {
    results: WORDY,
    without: {
      profiles: {
        data: { variants: { one: { endpoint_pattern: 'other', preferred_format: 'tree' } } },
      },
    },
    with: {
      profiles: {
        data: { variants: { one: { endpoint_pattern: 'li', preferred_format: 'tree' } } },
      },
    },
    not: COMPARES,
  },
  'profiles.data.variants.*.preferred_format': {
    results: WORDY,
    with: {
      profiles: {
        data: { variants: { one: { endpoint_pattern: 'li', preferred_format: 'tree' } } },
      },
    },
    not: COMPARES,
  },
  'profiles.data.variants.*.hint_set': {
    results: SAME,
    with: { profiles: { data: { variants: { one: { endpoint_pattern: 'Re', hint_set: [] } } } } },
  },

  'hints.enabled': { results: SAME, with: { hints: { enabled: false } } },
  'hints.types.*.enabled': { results: SAME, with: hintsOf('reference', { enabled: false }) },
  'hints.types.*.max_per_session': {
    results: [...SAME, SAME[0]!],
    with: hintsOf('reference', { max_per_session: 1 }),
  },
  'hints.types.*.applies_to_models': {
    results: SAME,
    with: hintsOf('reference', { applies_to_models: ['other'] }),
  },

  'steering.verbosity': {
    results: [],
    head: PROMPT,
    with: { steering: { verbosity: 'terse' } },
    not: ONLY_PROXIES,
  },
  'steering.effort': {
    results: [],
    head: reasons,
    with: { steering: effort },
    not: ONLY_PROXIES,
  },
  'steering.mechanical_effort': {
    results: [],
    head: reasons,
    with: { steering: mechanical },
    not: ONLY_PROXIES,
  },
  'steering.base_effort': {
    results: [],
    head: reasons,
    without: { steering: mechanical },
    with: { steering: { ...mechanical, base_effort: 'low' } },
    not: ONLY_PROXIES,
  },
  'arms.explore': ARMS,
  'arms.holdout': ARMS,
  'cache_align.normalise': {
    results: [],
    with: { cache_align: { normalise: true } },
    not: ONLY_PROXIES,
  },
  'cache_align.defer': 'defers tools at Anthropic, once five conversations called some',
  'cache_life.place': 'changes requests to known hosts of Anthropic, from the second turn on',
  'cache_life.hosts': 'adds hosts for cache_life.place, and does nothing by itself',
  'cache_life.life': 'changes what requests to Anthropic say of their cache, by an API key',
  'cache_life.budget': 'bounds what cache_life.life may cost, and does nothing by itself',
  'cache_life.openai': 'changes what requests to OpenAI say of their cache, by an API key',
  'cache_life.pings': 'sends requests of its own after a pause; what leaves is the same',
}

/** Families of hints with a row of their own: lines, and those that only notes have. */
export const NOTE_ROWS: Rows = {
  'hints.types.lines': { results: LINES, with: hintsOf('lines', { enabled: false }), not: WHOLE },
  'hints.types.format': {
    results: FORMATS,
    with: hintsOf('format', {}),
    not: at(['dedup'], '/v1/dedup writes no format'),
  },
  'hints.types.overflow': {
    results: ROWS,
    fields: { pagination: { total: 900, returned: 30 } },
    with: hintsOf('metadata', { enabled: false }),
    not: NOTES,
  },
}
