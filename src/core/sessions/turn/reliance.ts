import type { SessionKey } from '../index/session-key.ts'

/** A body that an answer depends on: its hint must be retrievable when the answer leaves. */
export interface Reliance {
  readonly session: string
  /** As the hint says it. */
  readonly ref: string
  /** What the id must represent: SHA-256, 64 hex digits. */
  readonly identity: string
  /** The agent's context that the body is in. */
  readonly context: SessionKey
}
