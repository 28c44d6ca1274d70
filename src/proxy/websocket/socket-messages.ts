/**
 * Decides what becomes of the messages of one WebSocket, and sees what the upstream answers. Its
 * methods may throw: that ends the connection as a bug.
 */
export interface SocketMessages {
  /**
   * A text message of the client begins.
   * @param length in bytes, if it is known
   */
  begin(length: number | null): ClientMessage
  /** A piece of a text message of the upstream passes. */
  answered(bytes: Uint8Array, isLast: boolean): void
  /** Responses that were asked for and have not ended. */
  readonly pending: number
  /** Whether the first of them has begun. */
  readonly hasBegun: boolean
  /** From now on no response may be asked for. */
  drain(): void
  /** The connection is over. */
  end(): void
}

export interface ClientMessage {
  /**
   * Takes the next piece of the message.
   * @param bytes its memory may be kept
   */
  take(bytes: Buffer, isLast: boolean): TakenMessage
  /** The message does not come to its end. */
  drop(): void
}

/** What to do now with a message. */
export type TakenMessage =
  /** Wait for its next piece. */
  | { readonly kind: 'held' }
  /** Send these bytes of it. Later pieces are sent, too. */
  | { readonly kind: 'pass'; readonly bytes: Uint8Array }
  /** Drop all of it, and give the client this event. */
  | { readonly kind: 'refuse'; readonly event: Uint8Array }
  /** Send what this resolves to, instead of all of it. It never rejects. */
  | { readonly kind: 'rewrite'; readonly message: Promise<RewrittenMessage> }

export interface RewrittenMessage {
  readonly bytes: Uint8Array
  /** Nothing of the upstream passes until this has settled, or a time limit has passed. */
  readonly recorded?: Promise<unknown>
  /** Called once: when the bytes are sent, or cannot be sent any more. */
  done(isSent: boolean): void
}
