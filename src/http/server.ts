import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Hono } from 'hono'
import { ERRORS } from '../core/base/errors.ts'
import { wantsUpgrade } from '../proxy/tunnel.ts'
import { answerOn } from '../proxy/upgraded.ts'
import type { AppEnv } from './context.ts'
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
   * For a socket on which nothing moves: ends connections whose client does not read its answer.
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

/** How often late requests and connections that fell idle are looked for, in milliseconds. */
const LATE_SWEEP_MS = 1_000
const IDLE_SWEEP_MS = 25

/** A connection that did nothing for so long is idle: no request is on its way to us any more. */
const QUIET_MS = 100

export interface ServerHooks {
  /** Told the status of requests that never became one. */
  refused(status: number): void
  /** Whether the app answers requests for this target on Node's own streams, upgrades too. */
  isForwarded(target: string | undefined): boolean
}

export function createHttpServer(
  app: Pick<Hono<AppEnv>, 'fetch'>,
  limits: ServerLimits,
  { refused, isForwarded }: ServerHooks,
): HttpServer {
  const options = {
    // A request without Host (HTTP/1.0, plain probes) counts as one for localhost.
    hostname: 'localhost',
    errorHandler() {
      refused(ERRORS.invalid_request.status)
      return malformed()
    },
  }
  const listener = getRequestListener(app.fetch, options)
  /** Requests whose clients wait for a 100, which is an upstream's to give. */
  const waiting = new WeakSet<IncomingMessage>()
  const forwardingListener = getRequestListener(async (request, { incoming, outgoing }) => {
    const awaitsContinue = waiting.has(incoming as IncomingMessage)
    const env = { incoming, outgoing, awaitsContinue } as AppEnv['Bindings']
    const response = await app.fetch(request, env)
    // The app says so too, but for HEAD in a response that the adapter does not know again.
    return outgoing.headersSent || outgoing.destroyed ? RESPONSE_ALREADY_SENT : response
  }, options)
  const server = createServer(
    {
      connectionsCheckingInterval: LATE_SWEEP_MS,
      // Of two keys or hosts, Node would take the first, and a proxy in front perhaps the other.
      joinDuplicateHeaders: true,
      // Answered by the app instead, as the problem that it is.
      requireHostHeader: false,
      // Elsewhere a request for another protocol is answered as any other.
      shouldUpgradeCallback: incoming => isForwarded(incoming.url) && wantsUpgrade(incoming),
    },
    (incoming, outgoing) => {
      const listen = isForwarded(incoming.url) ? forwardingListener : listener
      void listen(incoming, outgoing)
    },
  )
  server.on('checkContinue', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (isForwarded(incoming.url)) waiting.add(incoming)
    else outgoing.writeContinue()
    server.emit('request', incoming, outgoing)
  })
  server.on('upgrade', (incoming: IncomingMessage, _, head: Buffer) => {
    seen.set(incoming.socket, null)
    // The idle limit of the tunnel holds.
    incoming.socket.setTimeout(0)
    // The server's listeners are gone, and an error without one ends the process.
    incoming.socket.on('error', () => incoming.socket.destroy())
    upgrade(app, incoming, head).catch(() => incoming.socket.destroy())
  })
  /**
   * When each open connection was last seen to do something, by `performance.now()`; `null`: at
   * work.
   */
  const seen = new Map<Socket, number | null>()
  server.on('connection', (socket: Socket) => {
    seen.set(socket, performance.now())
    socket.once('close', () => seen.delete(socket))
  })
  /** The answer that is on its way on a connection. */
  const answering = new Map<Duplex, ServerResponse>()
  server.on('request', ({ socket }, response) => {
    seen.set(socket, null)
    answering.set(socket, response)
    response.once('close', () => {
      if (answering.get(socket) !== response) return
      answering.delete(socket)
      if (seen.has(socket)) seen.set(socket, performance.now())
    })
  })
  answerProtocolErrors(server, refused, socket => answering.get(socket))
  apply(limits)

  function closeQuiet(): void {
    const since = performance.now() - QUIET_MS
    for (const [socket, at] of seen) if (at !== null && at < since) socket.destroySoon()
  }

  function apply(next: ServerLimits): void {
    server.maxConnections = next.maxConnections
    server.headersTimeout = next.headerTimeoutMs
    server.requestTimeout = next.requestTimeoutMs
    server.keepAliveTimeout = next.idleTimeoutMs
    server.setTimeout(next.silenceTimeoutMs)
  }

  return {
    apply,
    get connections() {
      return seen.size
    },
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => {
          server.off('error', reject)
          resolve(server.address() as AddressInfo)
        })
      }),
    drain: deadlineMs =>
      new Promise(resolve => {
        // Clients that keep connections alive would hold up the end otherwise.
        const sweep = setInterval(closeQuiet, IDLE_SWEEP_MS)
        const deadline = setTimeout(() => {
          server.closeAllConnections()
          // Of those that were upgraded the server knows no more.
          for (const socket of seen.keys()) socket.destroy()
        }, deadlineMs)
        // Not `http.Server.close`, which also closes connections whose next request is on its way.
        NetServer.prototype.close.call(server, () => {
          clearInterval(sweep)
          clearTimeout(deadline)
          // Ends its timer for late requests.
          server.close()
          resolve()
        })
      }),
  }
}

/**
 * Lets the app have a request for another protocol; where it refuses, its answer is sent and the
 * connection ends.
 */
async function upgrade(
  app: Pick<Hono<AppEnv>, 'fetch'>,
  incoming: IncomingMessage,
  upgradeHead: Buffer,
): Promise<void> {
  const request = new Request(`http://localhost${incoming.url}`)
  const response = await app.fetch(request, { incoming, upgradeHead } as AppEnv['Bindings'])
  if (response === RESPONSE_ALREADY_SENT) return
  const outgoing = answerOn(incoming.socket, incoming)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.end(await response.text())
}
