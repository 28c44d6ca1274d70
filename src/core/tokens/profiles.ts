/**
 * Tokenizer profiles: how a model's tokens are counted. The weights of formats are configured, see
 * `docs/reference/configuration.md`.
 */
import { AppError } from '../base/errors.ts'

/** The public vocabularies that are counted exactly. */
export type Encoding = 'o200k_base' | 'cl100k_base'

export const ENCODINGS = ['o200k_base', 'cl100k_base'] as const satisfies readonly Encoding[]

/**
 * How a profile counts: byte pair merges of an encoding, or UTF-8 bytes over `charsPerToken`,
 * rounded up.
 */
type Counting = Encoding | 'bytes'

export interface TokenizerProfile {
  readonly counting: Counting
  /** Whether the counts are those of the model's own tokenizer. */
  readonly exact: boolean
  /** UTF-8 bytes of a token on average; what `bytes` counting divides by. */
  readonly charsPerToken: number
}

const O200K = { charsPerToken: 4.0 } as const
const CL100K = { charsPerToken: 3.7 } as const

/**
 * The encodings themselves and the profiles. Figures of the named profiles are those of the
 * published predecessor's built-in variants; `o200k_estimate` and `heuristic` are ours.
 */
export const PROFILES = {
  o200k_base: { counting: 'o200k_base', exact: true, ...O200K },
  cl100k_base: { counting: 'cl100k_base', exact: true, ...CL100K },
  openai_o200k: { counting: 'o200k_base', exact: true, ...O200K },
  openai_cl100k: { counting: 'cl100k_base', exact: true, ...CL100K },
  /** Models whose tokenizer is not public; o200k_base is the nearest public one. */
  anthropic_class: {
    counting: 'o200k_base',
    exact: false,
    charsPerToken: 3.5,
  },
  /** Models with open weights and a tokenizer that is not built in here. */
  ollama_bpe: {
    counting: 'bytes',
    exact: false,
    charsPerToken: 3.8,
  },
  /** The profile for a model id that no rule matches. */
  o200k_estimate: { counting: 'o200k_base', exact: false, ...O200K },
  heuristic: {
    counting: 'bytes',
    exact: false,
    charsPerToken: 3.5,
  },
} as const satisfies Record<string, TokenizerProfile>

/** Id of an encoding or a profile, as in `tokens.tokenizer` of an answer. */
export type TokenizerId = keyof typeof PROFILES

/** All ids, in the order of the table. */
export const TOKENIZER_IDS = Object.keys(PROFILES) as readonly TokenizerId[]

/**
 * The id itself if it is valid. Throws `AppError` `invalid_request` otherwise, also for a value
 * that is not a string.
 */
export function tokenizerId(value: unknown): TokenizerId {
  if (typeof value === 'string' && Object.hasOwn(PROFILES, value)) return value as TokenizerId
  const message = `not a tokenizer; known are ${TOKENIZER_IDS.join(', ')}`
  throw new AppError('invalid_request', message, { errors: [{ path: 'tokenizer', message }] })
}

/** Used if neither a tokenizer nor a model is named. */
const DEFAULT_TOKENIZER: TokenizerId = 'o200k_base'

/** The tokenizer for a model that no rule matches: the default's counts, marked as an estimate. */
const UNKNOWN_MODEL_TOKENIZER: TokenizerId = 'o200k_estimate'

/**
 * Families by the start of the bare model name; the first that fits wins. A start ends at a
 * letter's or number's end, so that `o1` does not fit `o100`.
 */
const FAMILIES: readonly (readonly [RegExp, TokenizerId])[] = [
  [/^claude\b/, 'anthropic_class'],
  [/^glm\b/, 'anthropic_class'],
  // o200k_harmony, gpt-oss's tokenizer, adds special tokens to o200k_base and nothing else.
  [/^gpt-oss\b/, 'openai_o200k'],
  [
    /^(gpt-5|gpt-4\.[15]|gpt-4o|chatgpt-4o|gpt-realtime|gpt-audio|codex-mini|o[134])\b/,
    'openai_o200k',
  ],
  [/^(gpt-4|gpt-3\.5|gpt-35)(?![\w.])/, 'openai_cl100k'],
  [/^(text-embedding-3|text-embedding-ada-002|davinci-002|babbage-002)\b/, 'openai_cl100k'],
  [
    /^(code|meta-)?(gemma|llama|qwen|qwq|mi[sx]tral|devstral|magistral|phi|deepseek|granite|command-r|olmo|smollm)/,
    'ollama_bpe',
  ],
]

/** `name:tag` as Ollama writes models: `:20b`, `:latest`, `:8b-instruct-q4_0`. */
const OLLAMA_TAG = /^[^:]+:(latest|cloud|[\d.]+[bm])\b/

/**
 * The tokenizer for a request. A named tokenizer takes precedence over a model; a model is resolved
 * by its name without vendor, region, route, fine-tuning and version parts, in any letter case; an
 * empty model counts as none.
 * @throws AppError `invalid_request` for an unknown tokenizer, or a field that is not a string.
 */
export function resolveTokenizer(request: {
  readonly tokenizer?: string | undefined
  readonly model?: string | undefined
}): TokenizerId {
  const { tokenizer, model } = request
  if (tokenizer !== undefined) return tokenizerId(tokenizer)
  if (model === undefined) return DEFAULT_TOKENIZER
  if (typeof model !== 'string') {
    const message = 'not a string'
    throw new AppError('invalid_request', `model: ${message}`, {
      errors: [{ path: 'model', message }],
    })
  }
  const name = bareModelName(model)
  if (name === '') return DEFAULT_TOKENIZER
  for (const [start, id] of FAMILIES) if (start.test(name)) return id
  return OLLAMA_TAG.test(name) ? 'ollama_bpe' : UNKNOWN_MODEL_TOKENIZER
}

/** Longer ids are cut: no vendor has them, and the work on an id stays bounded. */
const MAX_MODEL_CHARS = 256

/**
 * The name without vendor, region, route and fine-tuning, in lower case:
 * `us.anthropic.claude-sonnet-4-20250514-v1:0` → `claude-sonnet-4-…`, `openai/gpt-4.1` → `gpt-4.1`,
 * `ft:gpt-4o:acme::id` → `gpt-4o:acme::id`, `projects/…/models/claude-opus-4@20250514` →
 * `claude-opus-4@…`.
 */
export function bareModelName(model: string): string {
  return model
    .slice(-MAX_MODEL_CHARS)
    .trim()
    .toLowerCase()
    .replace(/^.*\//s, '')
    .replace(/^ft:/, '')
    .replace(/^([a-z][a-z-]*\.)+(?=[a-z])/, '')
}
