import type { ArmDelta, UnitDelta } from '../arms/sums.ts'

/**
 * All that the books keep of one tool result, made where its answer is known. Pure functions of it
 * make the rest: counts, events of telemetry, rows of the page. It has names and hashes, and no
 * text or argument. It stays in the process: what is written has less.
 */
export interface ResultRow {
  readonly call: {
    /** As the client names it; `null` if it names none. */
    readonly tool: string | null
    /** The class of the command that it ran; `null` if it ran none. */
    readonly command: string | null
    readonly session: string | null
    readonly id: string | null
    /** The file that it is about. */
    readonly file: string | null
    readonly sidechain: boolean
  }
  /** What it is in, if it is in no session. */
  readonly conversation: {
    readonly kind: 'conversation' | 'opening'
    readonly name: string
  } | null
  readonly input: {
    readonly bytes: number
    /** SHA-256, hexadecimal: of lone surrogates too, so that no two texts look like one. */
    readonly identity: string
    /** The first digits of the SHA-256 of its UTF-8 bytes. */
    readonly received: string
    /** The first 24 or all 64 digits; `null` if they were not needed. */
    readonly original: string | null
    readonly shape: string
    readonly inner_formats: readonly string[]
    readonly n_cols?: number
    readonly n_rows?: number
    readonly key_stability?: number
    readonly depth?: number
  }
  readonly sent: {
    readonly layer: 'L0' | 'L1' | 'L2' | 'L3'
    /** Without its styles. */
    readonly format: string
    /** The view that left parts out; `null`: none did. */
    readonly view: string | null
    /** Compactions of the session so far. */
    readonly partition: number
    /** The first digits of the SHA-256 of what was sent. */
    readonly identity: string
  }
  readonly tokens: {
    readonly tokenizer: string
    /** Whether the tokenizer counts as the model does, or estimates. */
    readonly exact: boolean
    /** Tokens of the result as its tool gave it. */
    readonly before: number
    /** Tokens that were saved, by what saved them: references, formats, and parts left out. */
    readonly referred: number
    readonly encoded: number
    readonly omitted: number
    readonly after: number
  }
  /** Why candidates were not sent, one entry each. */
  readonly refusals: readonly Refusal[]
  /** Anonymous classes of earlier results that it comes back to: see `telemetryEvent`. */
  readonly retrieved_of?: readonly string[]
  readonly needed_of?: readonly string[]
  /** What it adds to the sums of arms. */
  readonly arms?: readonly ArmDelta[]
  /** What it adds to its unit, if the unit's arm was drawn. */
  readonly unit?: UnitDelta
}

/** A candidate that the gate did not let out. */
export interface Refusal {
  readonly format: string
  /**
   * `differs`: decoded to another value. `failed`: could not be decoded. `bigger`: no token saved.
   * `dearer`: fewer tokens saved than what it asks of its reader is worth.
   */
  readonly reason: 'differs' | 'failed' | 'bigger' | 'dearer'
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

/** What the ledger's file has of one tool result. */
export interface KeptRow extends Omit<ResultRow['tokens'], 'after'> {
  /** Cut to `MAX_NAME` characters; `null` if the client names none. */
  readonly tool: string | null
  /** The class of its call: see `endpointClass`. */
  readonly class: string
  readonly shape: string
  readonly layer: string
  readonly format: string
  readonly view: string | null
  /** The session by a hash, 16 hex digits; `null` if there is none. */
  readonly session: string | null
  readonly original: string | null
  /** The first 24 hex digits of the SHA-256 of the received text, and of the sent one. */
  readonly received: string
  readonly sent: string
  /** Why it stayed unchanged; `null` if it did not. */
  readonly reason: UnchangedReason | null
}

/**
 * `no_format`: nothing can represent it. `not_smaller`: everything that can is larger. `not_exact`:
 * a candidate did not decode to the same value.
 */
export type UnchangedReason = 'no_format' | 'not_smaller' | 'not_exact'

/** Longest name that the ledger holds, in UTF-16 code units. */
export const MAX_NAME = 128
