/**
 * Tokenizer profiles: how a model's tokens are counted. What formats cost with it is configured,
 * see `docs/reference/profiles.md`.
 */
import { AppError } from '../base/errors.ts'
import type { Encoding } from './encoding.ts'

/**
 * How a profile counts: byte pair merges of an encoding, or UTF-8 bytes over `charsPerToken`,
 * rounded up.
 */
type Counting = Encoding | 'bytes'

export interface TokenizerProfile {
  readonly counting: Counting
  /** Whether the counts are what the model's own tokenizer gives. */
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
  /** What a model id that no rule knows is counted by. */
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
 * The id itself if it is one; throws `AppError` `invalid_request` otherwise, also for what is not a
 * string.
 */
export function tokenizerId(value: unknown): TokenizerId {
  if (typeof value === 'string' && Object.hasOwn(PROFILES, value)) return value as TokenizerId
  const message = `not a tokenizer; known are ${TOKENIZER_IDS.join(', ')}`
  throw new AppError('invalid_request', message, { errors: [{ path: 'tokenizer', message }] })
}
