import type { IncomingMessage, ServerResponse } from 'node:http'
import { GrownBytes } from '../core/base/grown-bytes.ts'
import type { VendorName } from '../core/dialects/lookup.ts'
import type { Exchange, ExchangeContext, ForwardOptions, Upgrade } from './exchange.ts'
import { ExchangeRun } from './exchange-run.ts'
import { Guard } from './guard.ts'
import { type RawHeaders, requestHeaders } from './headers.ts'
import { answerOn, joinUpgraded, joinWebSocket, type MessageUpgrade } from './upgraded.ts'
import {
  createUpstream,
  type ForwardLimits,
  type ProxyEnvironment,
  type Upstream,
} from './upstream.ts'
import type { SocketMessages } from './websocket/socket-messages.ts'

export interface ForwarderOptions {
  /**
   * The upstream, from configuration only: `https://api.anthropic.com`; a path is put before every
   * target.
   */
  readonly base: URL
  /** Whose error envelopes clients expect. */
  readonly vendor: VendorName
  readonly limits: ForwardLimits
  readonly env: ProxyEnvironment
  /** Called with what a handler of an exchange threw; the exchange has failed then. */
  readonly onBug?: (error: unknown) => void
}

export interface UpgradeOptions extends Pick<ForwardOptions, 'path' | 'extraHeaders'> {
  readonly messages?: SocketMessages
}

/** Sends requests to one upstream and its answers back, unchanged and without delay. */
export interface Forwarder {
  /**
   * Forwards a request. Resolves with its outcome when it is over, never rejects: a failure is
   * reported to the client in the vendor's words.
   */
  forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    options: ForwardOptions,
  ): Promise<Exchange>
  /**
   * Forwards a request for another protocol (the server's `upgrade` event, with the head that it
   * gives), then bytes both ways on the request's connection. An answer that does not switch is
   * passed on as any other; a request with a body is refused. With `messages`, only a WebSocket is
   * accepted, whose messages go through these.
   */
  upgrade(incoming: IncomingMessage, head: Buffer, options: UpgradeOptions): Promise<Exchange>
  /** Asks the upstream for something of our own. Never rejects. */
  ask(request: OwnRequest): Promise<OwnAnswer | null>
  /** Ends each WebSocket whose messages are read when its responses have ended, or after `ms`. */
  drain(ms: number): void
  /** Takes no more, ends what is under way, and closes the kept connections. */
  close(): Promise<void>
}

/** @throws TypeError if `base` cannot be an upstream (`createUpstream`) */
export function createForwarder(options: ForwarderOptions): Forwarder {
  const { base, vendor, limits, env, onBug = () => undefined } = options
  const upstream = createUpstream(base, limits.connect_ms, env)
  const context: ExchangeContext = { upstream, vendor, limits, onBug }
  const active = new Map<ExchangeRun, Promise<Exchange>>()
  const webSockets = new Set<MessageUpgrade>()
  let closed = false

  function start(run: ExchangeRun): Promise<Exchange> {
    if (closed) run.end()
    const exchange = run.run()
    active.set(run, exchange)
    void exchange.then(() => active.delete(run))
    return exchange
  }

  return {
    forward: (incoming, outgoing, forwardOptions) =>
      start(new ExchangeRun(context, incoming, outgoing, forwardOptions)),
    ask: request => (closed ? Promise.resolve(null) : askUpstream(upstream, request)),
    upgrade(incoming, head, { path, extraHeaders = {}, messages }) {
      const { socket } = incoming
      const outgoing = answerOn(socket, incoming)
      const options = { head, extraHeaders }
      const begin = (upgrade: Upgrade) =>
        start(new ExchangeRun(context, incoming, outgoing, { path, extraHeaders }, upgrade))
      if (messages === undefined) {
        return begin(joinUpgraded(socket, outgoing, { ...options, idleMs: limits.idle_ms }))
      }
      const relay = { vendor, limits, messages }
      const upgrade = joinWebSocket(socket, outgoing, { ...options, relay })
      webSockets.add(upgrade)
      return begin(upgrade).finally(() => webSockets.delete(upgrade))
    },
    drain(ms) {
      for (const upgrade of webSockets) upgrade.drain(ms)
    },
    async close() {
      closed = true
      for (const run of active.keys()) run.end()
      await Promise.all(active.values())
      upstream.close()
    },
  }
}

/** A request of our own, which no client waits for. */
interface OwnRequest {
  readonly path: string
  /** The headers of the client's request that it is made from. */
  readonly headers: RawHeaders
  readonly body: Uint8Array
  /** For all of it, in milliseconds. */
  readonly timeoutMs: number
}

interface OwnAnswer {
  readonly status: number
  readonly headers: RawHeaders
  readonly bytes: Uint8Array
}

const MAX_ANSWER_BYTES = 64 * 1024

/** Asks an upstream once. Returns `null` if no whole answer came. Never rejects. */
function askUpstream(
  upstream: Upstream,
  { path, headers: raw, body, timeoutMs }: OwnRequest,
): Promise<OwnAnswer | null> {
  const target = upstream.path(path)
  if (target === null) return Promise.resolve(null)
  const kinds = { keepExpect: false, keepUpgrade: false, keepExtensions: false, readsAnswer: true }
  const sent = { kind: 'whole', bytes: body } as const
  const options = { host: upstream.host, method: 'POST', body: sent, ...kinds }
  const head = { method: 'POST', path: target, headers: requestHeaders(raw, options) }
  return new Promise(resolve => {
    const request = upstream.request(head, false)
    const timer = setTimeout(() => request.destroy(), timeoutMs)
    timer.unref()
    const end = (answer: OwnAnswer | null) => {
      clearTimeout(timer)
      resolve(answer)
      if (answer === null) request.destroy()
    }
    const guard = new Guard(() => end(null))
    guard.on(request, 'close', () => end(null))
    guard.on(request, 'error', () => end(null))
    guard.on(request, 'response', (answer: IncomingMessage) => {
      const grown = new GrownBytes(MAX_ANSWER_BYTES)
      guard.on(answer, 'data', (chunk: Buffer) => {
        if (!grown.add(chunk)) end(null)
      })
      guard.on(answer, 'error', () => end(null))
      guard.on(answer, 'end', () => {
        end({ status: answer.statusCode ?? 0, headers: answer.rawHeaders, bytes: grown.take() })
      })
    })
    request.end(body)
  })
}
