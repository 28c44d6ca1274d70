import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Hono } from 'hono'
import { ERRORS } from '../core/base/errors.ts'
import { wantsUpgrade } from '../proxy/tunnel.ts'
import { answerOn } from '../proxy/upgraded.ts'
import type { AppEnv } from './context.ts'
import { alreadySent } from './response/already-sent.ts'
import { answerProtocolErrors, malformed } from './response/protocol-errors.ts'

/** What a connection may cost; all times in milliseconds. */
export interface ServerLimits {
  readonly maxConnections: number
  /** For the head of a request, and for a whole request. */
  readonly headerTimeoutMs: number
  readonly requestTimeoutMs: number
  /** For a connection without a request. */
  readonly idleTimeoutMs: number
  /**
   * For a socket on which no bytes move. It ends connections whose client does not read its answer.
   */
  readonly silenceTimeoutMs: number
}

/** The HTTP server below the app. */
export interface HttpServer {
  listen(host: string, port: number): Promise<AddressInfo>
  /** Puts other limits in force, for connections that are open too. */
  apply(limits: ServerLimits): void
  readonly connections: number
  /** Takes no new connection, lets requests end, and closes whatever is open at the deadline. */
  drain(deadlineMs: number): Promise<void>
}

/** How often the server looks for late requests and idle connections, in milliseconds. */
const LATE_SWEEP_MS = 1_000
const IDLE_SWEEP_MS = 25

/** A connection that did nothing for so long is idle: no request is on its way to us any more. */
const QUIET_MS = 100

export interface ServerHooks {
  /** Gets the status of requests that never became one. */
  refused(status: number): void
  /** Whether the app answers requests for this target on Node's own streams, upgrades too. */
  isForwarded(target: string | undefined): boolean
}

export function createHttpServer(
  app: Pick<Hono<AppEnv>, 'fetch'>,
  limits: ServerLimits,
  hooks: ServerHooks,
): HttpServer {
  return new AppServer(app, limits, hooks)
}

class AppServer implements HttpServer {
  readonly #server: Server
  /** Open connections: when each last did something, by `performance.now()`; `null`: at work. */
  readonly #seen = new Map<Socket, number | null>()
  /** The answer that is on its way on a connection. */
  readonly #answering = new Map<Duplex, ServerResponse>()
  /** Requests whose clients wait for a 100, which an upstream decides on. */
  readonly #awaitContinue = new WeakSet<IncomingMessage>()
  /** What passes requests to the app. */
  #listener: RequestListener | undefined
  readonly #load: () => Promise<RequestListener>

  constructor(app: Pick<Hono<AppEnv>, 'fetch'>, limits: ServerLimits, hooks: ServerHooks) {
    const { isForwarded } = hooks
    let loading: Promise<RequestListener> | undefined
    this.#load = () => {
      loading ??= loadListener(app, hooks, incoming => this.#awaitContinue.has(incoming))
      return loading.catch(error => {
        loading = undefined
        throw error
      })
    }
    this.#server = createServer(
      {
        connectionsCheckingInterval: LATE_SWEEP_MS,
        // Without this, Node would take the first of two keys or hosts, and a proxy in front
        // perhaps the second.
        joinDuplicateHeaders: true,
        // The app answers a missing Host with a problem instead.
        requireHostHeader: false,
        // Elsewhere a request for another protocol is answered as any other.
        shouldUpgradeCallback: incoming => isForwarded(incoming.url) && wantsUpgrade(incoming),
      },
      async (incoming, outgoing) => {
        const listener = this.#listener ?? (await this.#load().catch(() => null))
        // It cannot be loaded while no file can be opened; the next request tries again.
        if (listener === null) return void incoming.socket.destroy()
        this.#listener = listener
        listener(incoming, outgoing)
      },
    )
    this.#server.on('connection', socket => this.#watchConnection(socket))
    this.#server.on('request', ({ socket }, response) => this.#watchAnswer(socket, response))
    this.#server.on('checkContinue', (incoming, outgoing) => {
      if (isForwarded(incoming.url)) this.#awaitContinue.add(incoming)
      else outgoing.writeContinue()
      this.#server.emit('request', incoming, outgoing)
    })
    this.#server.on('upgrade', (incoming: IncomingMessage, _, head: Buffer) => {
      this.#seen.set(incoming.socket, null)
      // The tunnel has an idle limit of its own.
      incoming.socket.setTimeout(0)
      // The server's listeners are gone, and an error without one ends the process.
      incoming.socket.on('error', () => incoming.socket.destroy())
      upgrade(app, incoming, head).catch(() => incoming.socket.destroy())
    })
    answerProtocolErrors(this.#server, hooks.refused, socket => this.#answering.get(socket))
    this.apply(limits)
  }

  get connections() {
    return this.#seen.size
  }

  apply(limits: ServerLimits): void {
    this.#server.maxConnections = limits.maxConnections
    this.#server.headersTimeout = limits.headerTimeoutMs
    this.#server.requestTimeout = limits.requestTimeoutMs
    this.#server.keepAliveTimeout = limits.idleTimeoutMs
    this.#server.setTimeout(limits.silenceTimeoutMs)
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject)
        resolve(this.#server.address() as AddressInfo)
        // Now, while files can be opened. It loads Node's `fetch`, which takes 45 ms of processor
        // time, so the caller gets the address first.
        setImmediate(() => void this.#load().catch(() => null))
      })
    })
  }

  drain(deadlineMs: number): Promise<void> {
    return new Promise(resolve => {
      // Otherwise clients that keep connections alive would delay the end.
      const sweep = setInterval(() => this.#closeQuiet(), IDLE_SWEEP_MS)
      const deadline = setTimeout(() => this.#closeAll(), deadlineMs)
      // Not `http.Server.close`, which also closes connections whose next request is on its way.
      NetServer.prototype.close.call(this.#server, () => {
        clearInterval(sweep)
        clearTimeout(deadline)
        // Ends its timer for late requests.
        this.#server.close()
        resolve()
      })
    })
  }

  #watchConnection(socket: Socket): void {
    this.#seen.set(socket, performance.now())
    socket.once('close', () => this.#seen.delete(socket))
  }

  #watchAnswer(socket: Socket, response: ServerResponse): void {
    this.#seen.set(socket, null)
    this.#answering.set(socket, response)
    response.once('close', () => {
      if (this.#answering.get(socket) !== response) return
      this.#answering.delete(socket)
      if (this.#seen.has(socket)) this.#seen.set(socket, performance.now())
    })
  }

  #closeQuiet(): void {
    const since = performance.now() - QUIET_MS
    for (const [socket, at] of this.#seen) if (at !== null && at < since) socket.destroySoon()
  }

  #closeAll(): void {
    this.#server.closeAllConnections()
    // The server does not know those that were upgraded any more.
    for (const socket of this.#seen.keys()) socket.destroy()
  }
}

/** Requests that the app forwards also get what only the server knows. */
async function loadListener(
  app: Pick<Hono<AppEnv>, 'fetch'>,
  { refused, isForwarded }: ServerHooks,
  isAwaitingContinue: (incoming: IncomingMessage) => boolean,
): Promise<RequestListener> {
  const { getRequestListener } = await import('@hono/node-server')
  const options = {
    // A request without Host (HTTP/1.0, plain probes) counts as one for localhost.
    hostname: 'localhost',
    errorHandler() {
      refused(ERRORS.invalid_request.status)
      return malformed()
    },
  }
  const listener = getRequestListener(app.fetch, options)
  const forwardingListener = getRequestListener(async (request, { incoming, outgoing }) => {
    const awaitsContinue = isAwaitingContinue(incoming as IncomingMessage)
    const env = { incoming, outgoing, awaitsContinue } as AppEnv['Bindings']
    const response = await app.fetch(request, env)
    // The app does so too, except for HEAD, in a response that the adapter does not know again.
    return outgoing.headersSent || outgoing.destroyed ? alreadySent() : response
  }, options)
  return (incoming, outgoing) => {
    const listen = isForwarded(incoming.url) ? forwardingListener : listener
    void listen(incoming, outgoing)
  }
}

/**
 * Passes a request for another protocol to the app. If the app refuses, its answer is sent and the
 * connection ends.
 */
async function upgrade(
  app: Pick<Hono<AppEnv>, 'fetch'>,
  incoming: IncomingMessage,
  upgradeHead: Buffer,
): Promise<void> {
  const request = new Request(`http://localhost${incoming.url}`)
  const response = await app.fetch(request, { incoming, upgradeHead } as AppEnv['Bindings'])
  if (response === alreadySent()) return
  const outgoing = answerOn(incoming.socket, incoming)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(await response.text())
}
