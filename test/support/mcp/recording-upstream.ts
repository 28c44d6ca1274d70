import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { answerByDefault, type RecordingOptions, subscribed } from './recording/defaults.ts'
import { type Channel, Exchange } from './recording/exchange.ts'
import { createHttpChannel } from './recording/http-channel.ts'
import { type RecordedCall, readCall } from './recording/recorded-call.ts'
import { type StdioServer, startStdioServer } from './recording/stdio-server.ts'

type Handler = (exchange: Exchange) => void | Promise<void>

/**
 * An upstream without an SDK, over stdio and Streamable HTTP at once. It records each message
 * byte for byte. It lists one tool, `echo`, until a test says otherwise.
 */
export class RecordingUpstream {
  /** All that clients sent, in order. */
  readonly calls: RecordedCall[] = []
  readonly url: string
  readonly stdio: StdioServer
  readonly #options: RecordingOptions
  readonly #handlers = new Map<string, Handler>()
  readonly #sessions = new Set<string>()
  /** Streams on which the upstream may speak first. */
  readonly #streams = new Set<Exchange>()
  readonly #close: () => Promise<void>

  private constructor(options: RecordingOptions, url: string, parts: Parts) {
    this.#options = options
    this.url = url
    this.stdio = parts.stdio
    this.#close = parts.close
  }

  /** Starts to listen on a free port. */
  static async start(options: RecordingOptions): Promise<RecordingUpstream> {
    const take = (bytes: Buffer, http: RecordedCall['http'], channel: Channel) =>
      upstream.#take(readCall(bytes, http), channel)
    const server = createServer((request, response) => void receive(request, response, take))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const stdio = await startStdioServer((line, channel) => take(line, null, channel))
    const close = async () => {
      server.close()
      server.closeAllConnections()
      await Promise.all([once(server, 'close'), stdio.close()])
    }
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/mcp`
    const upstream: RecordingUpstream = new RecordingUpstream(options, url, { stdio, close })
    return upstream
  }

  /**
   * Lets a test answer a method's calls; `GET` and `DELETE` name requests without a body. The handler
   * may answer later, or never.
   */
  on(method: string, handler: Handler): void {
    this.#handlers.set(method, handler)
  }

  /** The calls of a method. */
  callsOf(method: string): RecordedCall[] {
    return this.calls.filter(call => call.method === method)
  }

  /** Sends a notification that belongs to no call to all that listen; members are JSON. */
  announce(method: string, ...members: readonly string[]): void {
    for (const stream of this.#streams) {
      const isSubscription = stream.call.method === 'subscriptions/listen'
      stream.notify(
        method,
        isSubscription ? subscribed(stream, ...members) : `{${members.join(',')}}`,
      )
    }
    if (this.#options.era === 'modern') return
    const params = `{${members.join(',')}}`
    for (const { channel, forked } of this.stdio.processes) {
      if (forked) continue
      channel.message(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`, false)
    }
  }

  /** From now on each session is unknown, as after a restart. */
  forgetSessions(): void {
    this.#sessions.clear()
  }

  /** Ends all connections and processes. */
  close(): Promise<void> {
    return this.#close()
  }

  #take(call: RecordedCall, channel: Channel): void {
    this.calls.push(call)
    const exchange = new Exchange(call, channel)
    const key = call.method ?? call.http?.method ?? ''
    const isStream = key === 'GET' || key === 'subscriptions/listen'
    if (this.#isForeign(call, channel)) return
    if (isStream) this.#keep(exchange)
    const handler = this.#handlers.get(key)
    if (handler !== undefined) void handler(exchange)
    else answerByDefault(exchange, this.#options)
  }

  /** Gives a session to a client of 2025, or answers 404 to one without. */
  #isForeign({ http, method }: RecordedCall, channel: Channel): boolean {
    if (http === null || this.#options.sessions !== true) return false
    if (method === 'initialize') {
      const session = randomUUID()
      this.#sessions.add(session)
      channel.header('mcp-session-id', session)
      return false
    }
    if (this.#sessions.has(String(http.headers['mcp-session-id']))) return false
    channel.status(404)
    return true
  }

  #keep(exchange: Exchange): void {
    this.#streams.add(exchange)
    void exchange.channel.gone.then(() => this.#streams.delete(exchange))
  }
}

interface Parts {
  readonly stdio: StdioServer
  readonly close: () => Promise<void>
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  take: (bytes: Buffer, http: RecordedCall['http'], channel: Channel) => void,
): Promise<void> {
  const channel = createHttpChannel(response)
  const bytes = await buffer(request).catch(() => null)
  // Without all of its bytes it is no call.
  if (bytes === null) return
  take(bytes, { method: request.method ?? '', headers: request.headers }, channel)
}
