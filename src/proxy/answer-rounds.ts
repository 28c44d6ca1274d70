import type { RawHeaders } from './headers.ts'

/** What follows a round of an answer. */
export type RoundStep =
  /** The upstream is asked again, with this body. */
  | { readonly kind: 'again'; readonly body: Uint8Array }
  /** The answer ends with these bytes. */
  | { readonly kind: 'done'; readonly bytes: Uint8Array }

/** How an answer is read: as events, as one text, or not at all. */
export type RoundForm = 'events' | 'whole' | 'pass'

/** Changes an answer on its way, and may let the upstream be asked again before it ends. */
export interface AnswerRounds {
  /** An answer of the upstream has begun. */
  begin(status: number, headers: RawHeaders): RoundForm
  /** Takes decoded bytes of it. Returns what passes to the client now. */
  take(bytes: Uint8Array): Uint8Array
  /** The upstream's answer is complete. Resolves once everything is kept that must be. */
  end(): Promise<RoundStep>
  /** Keeps the connection of a streamed answer open while the next round is awaited. */
  readonly ping: Uint8Array
}
