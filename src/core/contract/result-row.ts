/**
 * What the ledger keeps of one tool result: names, counts and hashes, and nothing of its text or
 * its arguments.
 */
export interface ResultRow {
  /** As the client names it, cut to `MAX_NAME` characters; `null` if it names none. */
  readonly tool: string | null
  /** The class of its call: see `endpointClass`. */
  readonly class: string
  readonly shape: string
  readonly layer: string
  readonly format: string
  /** The view that left parts out; `null`: none did. */
  readonly view: string | null
  readonly tokenizer: string
  /** Whether the tokenizer counts as the model does, or estimates. */
  readonly exact: boolean
  /** Tokens of the result as its tool gave it. */
  readonly before: number
  /** Tokens that were saved, by what saved them: references, formats, and parts left out. */
  readonly referred: number
  readonly encoded: number
  readonly omitted: number
  /** The session by a hash, 16 hex digits; `null` if there is none. */
  readonly session: string | null
  /** The first 24 or all 64 hex digits of the text's SHA-256; `null` if it was not needed. */
  readonly original: string | null
  /** The first 24 hex digits of the SHA-256 of the received text, and of the sent one. */
  readonly received: string
  readonly sent: string
  /** Why it stayed unchanged; `null` if it did not. */
  readonly reason: UnchangedReason | null
}

/** Both sides of a result: what its tool gave, and what its model read. */
export interface ResultTexts {
  readonly before: string
  readonly after: string
  /** That decodes it, with its styles. */
  readonly format: string
}

/** Longest texts that are kept of one result, in UTF-16 code units of both. */
export const MAX_TEXTS = 4 * 1024 * 1024

/**
 * `no_format`: nothing can represent it. `not_smaller`: everything that can is larger. `not_exact`:
 * a candidate did not decode to the same value.
 */
export type UnchangedReason = 'no_format' | 'not_smaller' | 'not_exact'

/** Longest name that a row holds, in UTF-16 code units. */
export const MAX_NAME = 128
