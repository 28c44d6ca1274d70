import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Failure, Outcome } from './failures.ts'
import type { Guard } from './guard.ts'
import type { RawHeaders } from './headers.ts'
import type { ForwardLimits, Upstream } from './upstream.ts'
import type { Vendor } from './vendor-errors.ts'

/**
 * Watches an answer for accounting. It is called after the bytes were passed on, and not again once
 * it has thrown; it must not change the chunks, which may not have left yet.
 */
export interface AnswerObserver {
  head?(status: number, headers: RawHeaders): void
  chunk?(bytes: Uint8Array): void
}

/**
 * The observer made so that it can do no harm: what it throws ends its watching, not the answer.
 */
export function harmless(observer: AnswerObserver | undefined): Required<AnswerObserver> {
  let watching = observer
  function tell(what: (to: AnswerObserver) => void): void {
    if (watching === undefined) return
    try {
      what(watching)
    } catch {
      // That something is missing shows in what it counted.
      watching = undefined
    }
  }
  return {
    head: (status, headers) => tell(to => to.head?.(status, headers)),
    chunk: bytes => tell(to => to.chunk?.(bytes)),
  }
}

/** The report of an exchange that is over; nothing of its content. */
export interface Exchange {
  readonly outcome: Outcome
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
  /** A kept connection turned out to be dead, and the request was sent on another one. */
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
  /** Added after the headers of the answer, even if it is an error of ours. */
  readonly extraHeaders?: Readonly<Record<string, string>>
  readonly onAnswer?: AnswerObserver
  /**
   * The answer is not complete to the client before this is settled, or a time limit has passed.
   */
  readonly holdEnd?: Promise<unknown>
  /**
   * The request came with the server's `checkContinue`: its client waits for a 100, which is the
   * upstream's to give.
   */
  readonly awaitsContinue?: boolean
}

/** What all exchanges of a forwarder share. */
export interface ExchangeContext {
  readonly upstream: Upstream
  readonly vendor: Vendor
  readonly limits: ForwardLimits
  /** Milliseconds, never going back. */
  readonly now: () => number
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

/**
 * Takes over what an upgrade made of both connections; what it returns is called when the exchange
 * must end.
 */
export type Upgrade = (
  upgraded: UpgradedUpstream,
  end: (outcome: Outcome, sent: number, received: number) => void,
) => () => void

/** What is noted of an exchange on its way. */
export class ExchangeRecord {
  readonly #now: () => number
  readonly #started: number
  readonly #closed = Promise.withResolvers<Exchange>()
  outcome: Outcome = 'answered'
  error: string | null = null
  sent = 0
  received = 0
  retried = false
  #firstByteMs: number | null = null

  constructor(now: () => number) {
    this.#now = now
    this.#started = now()
  }

  /** Resolves once the record is closed. */
  get closed(): Promise<Exchange> {
    return this.#closed.promise
  }

  /** The head of the answer is there. */
  answered(): void {
    this.#firstByteMs = this.#now() - this.#started
  }

  /** The first failure has the outcome; a code of the system's stays. */
  failed({ outcome, code }: Failure): void {
    if (this.outcome === 'answered') this.outcome = outcome
    this.error ??= code
  }

  /** @param status that the client was sent; `null`: none */
  close(status: number | null): void {
    this.#closed.resolve({
      outcome: this.outcome,
      status,
      sent_bytes: this.sent,
      received_bytes: this.received,
      first_byte_ms: this.#firstByteMs,
      total_ms: this.#now() - this.#started,
      retried: this.retried,
      error: this.error,
    })
  }
}
