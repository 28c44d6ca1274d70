import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AnswerFraming } from './answer-head.ts'
import type { AnswerObserver } from './answer-observer.ts'
import type { Failure } from './failures.ts'
import type { Guard } from './guard.ts'

/** How the answers of an upstream reach the client. */
export interface AnswerRelay {
  /** The framing of the head that the client was sent. */
  readonly framing: AnswerFraming | null
  /** Takes an answer of the upstream. */
  take(answer: IncomingMessage): void
  /** Ends the answer to the client, if all of it is there. Returns whether it is. */
  complete(): boolean
  /** Stops what it does by itself. */
  close(): void
}

/** The exchange whose answer is relayed. */
export interface RelayTarget {
  readonly outgoing: ServerResponse
  readonly guard: Guard
  readonly observer: Required<AnswerObserver>
  isOver(): boolean
  /** Bytes came in, or the client takes more. Returns how many have come in. */
  moved(bytes: number): number
  /** Sends the head of an answer. @param reframed if its body is another one; see `HeadOptions` */
  writeHead(
    answer: IncomingMessage,
    reframed?: { readonly length?: number | undefined },
  ): AnswerFraming | null
  /** Sends the request again with another body. */
  sendAgain(body: Uint8Array): void
  /** All of the answer is there but its end, which may be held. */
  ready(): void
  fail(failure: Failure): void
}
