import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import { ERRORS } from '../errors.ts'
import type { AppEnv } from './context.ts'
import { answerProtocolErrors, malformed } from './protocol-errors.ts'

/** What a connection may cost; all times in milliseconds. */
export interface ServerLimits {
  readonly maxConnections: number
  /** For the head of a request, and for a whole request. */
  readonly headerTimeoutMs: number
  readonly requestTimeoutMs: number
  /** For a connection without a request. */
  readonly idleTimeoutMs: number
  /** For a socket on which nothing moves: ends connections whose client does not read its answer. */
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

/** @param refused told the status of requests that never became one */
export function createHttpServer(
  app: Pick<Hono<AppEnv>, 'fetch'>,
  limits: ServerLimits,
  refused: (status: number) => void,
): HttpServer {
  const listener = getRequestListener(app.fetch, {
    // A request without Host (HTTP/1.0, plain probes) counts as one for localhost.
    hostname: 'localhost',
    errorHandler() {
      refused(ERRORS.invalid_request.status)
      return malformed()
    },
  })
  const server = createServer(
    {
      connectionsCheckingInterval: LATE_SWEEP_MS,
      // Of two keys or hosts, Node would take the first, and a proxy in front perhaps the other.
      joinDuplicateHeaders: true,
      // Answered by the app instead, as the problem that it is.
      requireHostHeader: false,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  /** When each open connection was last seen to do something, by `performance.now()`; `null`: at work. */
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
        const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
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
