import type { SessionKey } from '../index/session-key.ts'

/** A body that an answer depends on: it must be retrievable when the answer leaves. */
export interface Dependency {
  readonly session: string
  /** The id in the hint. */
  readonly ref: string
  /** The body that the id must represent: SHA-256, 64 hex digits. */
  readonly identity: string
  /** The agent's context that the body is in. */
  readonly context: SessionKey
}
