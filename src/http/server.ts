import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import type { AppEnv } from './context.ts'
import { answerProtocolErrors } from './protocol-errors.ts'

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

/** @param refused told the status of requests that never became one */
export function createHttpServer(
  app: Pick<Hono<AppEnv>, 'fetch'>,
  limits: ServerLimits,
  refused: (status: number) => void,
): HttpServer {
  const server = createAdaptorServer({
    fetch: app.fetch,
    // A request without Host (HTTP/1.0, plain probes) counts as one for localhost.
    hostname: 'localhost',
    serverOptions: { connectionsCheckingInterval: LATE_SWEEP_MS },
  }) as Server
  let connections = 0
  server.on('connection', socket => {
    connections++
    socket.once('close', () => connections--)
  })
  answerProtocolErrors(server, refused)
  apply(limits)

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
      return connections
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
        const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS)
        const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
        server.close(() => {
          clearInterval(sweep)
          clearTimeout(deadline)
          resolve()
        })
      }),
  }
}
