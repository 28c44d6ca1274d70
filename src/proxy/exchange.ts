import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { VendorName } from '../core/dialects/lookup.ts'
import type { AnswerObserver } from './answer-observer.ts'
import type { AnswerRounds } from './answer-rounds.ts'
import type { SignRequest } from './aws-signature.ts'
import type { ExchangeOutcome } from './failures.ts'
import type { Guard } from './guard.ts'
import type { ForwardLimits, Upstream } from './upstream.ts'

/** The report of an exchange that is over; nothing of its content. */
export interface Exchange {
  readonly outcome: ExchangeOutcome
  /** The status that the client was sent; `null` if it was sent none. */
  readonly status: number | null
  /**
   * Bytes of the bodies, as they were on the wire without chunk framing; through a tunnel, all
   * bytes.
   */
  readonly sent_bytes: number
  readonly received_bytes: number
  /** From the start to the head of the upstream's answer; `null` if none came. */
  readonly first_byte_ms: number | null
  readonly total_ms: number
  /** Whether a kept connection was dead, so that the request was sent on another one. */
  readonly retried: boolean
  /**
   * A stable code of what went wrong: ours (`upstream_timeout`) or the system's (`ECONNREFUSED`).
   */
  readonly error: string | null
}

export interface ForwardOptions {
  /** The request target after the proxy's prefix, with its query, as the client sent it. */
  readonly path: string
  /** Sent instead of the incoming body, with its own length. */
  readonly body?: Uint8Array
  /** Signs it once more; only a request with no body, or with all of it, can be signed. */
  readonly sign?: SignRequest
  /** Added after the headers of the answer, even if it is an error of ours. */
  readonly extraHeaders?: Readonly<Record<string, string>>
  readonly onAnswer?: AnswerObserver
  /**
   * Called once all of `body` was sent and is not sent again. Not called if the exchange fails
   * before.
   */
  readonly onBodySent?: () => void
  /**
   * The client gets the end of the answer only after this has settled, or a time limit has passed.
   */
  readonly holdEnd?: Promise<unknown>
  /** Changes the answer; absent: it passes byte for byte. */
  readonly rounds?: AnswerRounds
  /**
   * The request came with the server's `checkContinue`: its client waits for a 100, which the
   * upstream decides on.
   */
  readonly awaitsContinue?: boolean
}

/** What all exchanges of a forwarder share. */
export interface ExchangeContext {
  readonly upstream: Upstream
  readonly vendor: VendorName
  readonly limits: ForwardLimits
  /** Called with what a handler threw. It must not throw. */
  readonly onBug: (error: unknown) => void
}

/**
 * What an upgrade left: the answer that accepts it, the connection to the upstream, and bytes read
 * from it already.
 */
export interface UpgradedUpstream {
  readonly answer: IncomingMessage
  readonly upstream: Duplex
  readonly head: Buffer
  readonly guard: Guard
}

/** An upgrade that a client asks for. */
export interface Upgrade {
  /** Whether the upstream may use extensions of WebSockets that the client offers. */
  readonly keepExtensions: boolean
  /** Whether an answer that switches protocols may be passed on. */
  accepts(answer: IncomingMessage): boolean
  /** Takes over both connections. Returns a function that is called when the exchange must end. */
  join(
    upgraded: UpgradedUpstream,
    end: (outcome: ExchangeOutcome, sent: number, received: number) => void,
  ): () => void
}
