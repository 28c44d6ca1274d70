import { Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { Guard } from '../../proxy/guard.ts'
import { type Clock, pause } from '../upstream/clock.ts'
import { exchange, type HttpEnd } from '../upstream/http-exchange.ts'

export interface EndpointOptions {
  readonly url: URL
  /** Headers of every request, such as the service's key. */
  headers(): Readonly<Record<string, string>>
  readonly clock: Clock
  /** The service does not answer any more, or does again. */
  onReachable(isReachable: boolean): void
  /** Reports an error that nothing expected. Must not throw. */
  onBug(error: unknown): void
}

export interface EndpointRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonBytes | null
  readonly signal: AbortSignal
}

/** How long requests wait for a service that has just gone. */
const DOWN_WAIT_MS = 2_000
/** Between two attempts to reach it, while a request waits. */
const ATTEMPT_MS = 100

/** Streamable HTTP of a running service. */
export class ServiceEndpoint {
  readonly clock: Clock
  readonly #options: EndpointOptions
  readonly #agent: HttpAgent
  /** What a handler throws ends no more than the exchange that it belongs to. */
  readonly guard: Guard
  /** Since when it is not reached; `null` if it was at the last attempt. */
  #downSince: number | null = null

  constructor(options: EndpointOptions) {
    this.#options = options
    this.clock = options.clock
    this.guard = new Guard(options.onBug)
    const isSecure = options.url.protocol === 'https:'
    this.#agent = isSecure ? new HttpsAgent(KEPT) : new HttpAgent(KEPT)
  }

  /**
   * Sends a request. One that did not reach the service is sent again until the service is down for
   * two seconds; after that it is tried once. Never rejects.
   */
  async send(request: EndpointRequest): Promise<HttpEnd> {
    for (;;) {
      const end = await this.sendOnce(request)
      if (this.#downSince === null || request.signal.aborted) return end
      if (this.clock.now() - this.#downSince >= DOWN_WAIT_MS) return end
      if (end.kind === 'head') end.answer.destroy()
      await pause(this.clock, ATTEMPT_MS, request.signal)
    }
  }

  async sendOnce({ method, headers, body, signal }: EndpointRequest): Promise<HttpEnd> {
    const content =
      body === null
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(body.length) }
    const end = await exchange({
      method,
      body,
      signal,
      agent: this.#agent,
      guard: this.guard,
      url: this.#options.url,
      headers: {
        'user-agent': 'haversack',
        'accept-encoding': 'identity',
        ...this.#options.headers(),
        ...content,
        ...headers,
      },
    })
    if (!signal.aborted) this.#note(isReached(end))
    return end
  }

  close(): void {
    this.#agent.destroy()
  }

  #note(isReachable: boolean): void {
    if (isReachable === (this.#downSince === null)) return
    this.#downSince = isReachable ? null : this.clock.now()
    this.#options.onReachable(isReachable)
  }
}

const KEPT = { keepAlive: true }

/** A proxy in front of a service that is not there answers 503, and no JSON. */
function isReached(end: HttpEnd): boolean {
  if (end.kind === 'failed') return end.reached
  return end.kind !== 'head' || end.answer.statusCode !== 503 || isJson(end.answer)
}

function isJson({ headers }: IncomingMessage): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? '')
}
