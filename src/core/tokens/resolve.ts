/** From a model id as clients send it to the tokenizer that counts for it. */
import { AppError } from '../base/errors.ts'
import { type TokenizerId, tokenizerId } from './profiles.ts'

/** Used if neither a tokenizer nor a model is named. */
const DEFAULT_TOKENIZER: TokenizerId = 'o200k_base'

/** What counts for a model that no rule knows: the default's counts, marked as an estimate. */
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
 * The tokenizer for a request. A named tokenizer wins over a model; a model is resolved by its name
 * without vendor, region, route, fine-tuning and version parts, in any letter case; an empty model
 * counts as none.
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
