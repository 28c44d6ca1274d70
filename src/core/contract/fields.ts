import { z } from 'zod'
import { READING_LEVELS } from '../reading/constructs.ts'

/**
 * The fields that name the tokenizer a client wants its counts in; both are optional, and
 * `tokenizer` takes precedence.
 */
export const tokenizerFields = {
  tokenizer: z
    .string()
    .max(128)
    .optional()
    .describe('Tokenizer or profile id: o200k_base (default), cl100k_base, anthropic_class, …'),
  model: z
    .string()
    .max(256)
    .optional()
    .describe('Model id, resolved to a tokenizer profile, for example claude-sonnet-4-6'),
}

export const tokensUsed = {
  tokenizer: z.string().describe('The tokenizer or profile that the counts are in'),
  exact: z.boolean().describe("Whether the counts are the model's own, or an estimate"),
}

/** A session id: an agent context, chosen by the client. */
export const sessionField = z
  .string()
  .min(1)
  .max(256)
  .describe('The agent context that this result goes to')

/** Digits of a SHA-256 by which clients name a kept original. */
export const HASH_DIGITS = 24

export const tokenCount = z.int().nonnegative()
export const byteCount = z.int().nonnegative()

/** The level of a request, which takes precedence over the configuration. */
export const readingField = z
  .enum(READING_LEVELS)
  .describe('How hard the text may be to read; default by the configuration')
