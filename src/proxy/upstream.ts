import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { upstreamPath } from './target.ts'

/** What an exchange may take, in milliseconds. */
export interface ForwardLimits {
  /** Until a connection stands: name, TCP, proxy, TLS. */
  readonly connect_ms: number
  /** From the end of the request to the head of the answer. A model may think for minutes. */
  readonly headers_ms: number
  /** Without a byte moving: while the request is sent, between parts of the answer, in a tunnel. */
  readonly idle_ms: number
  /** For the whole exchange; not for a tunnel. */
  readonly total_ms: number
}

/** Where the proxy between us and the upstream is named, as in the environment. */
export type ProxyEnvironment = Readonly<
  Partial<Record<'HTTPS_PROXY' | 'https_proxy' | 'NO_PROXY' | 'no_proxy', string>>
>

/** A request's first line and headers. */
export interface RequestHead {
  readonly method: string
  /** From `Upstream.path`. */
  readonly path: string
  readonly headers: readonly string[]
}

/** One configured upstream and its connections. */
export interface Upstream {
  readonly host: string
  /** The request target for a client's path; `null`: it must not be forwarded. */
  path(path: string): string | null
  /**
   * Starts a request, on a kept connection if there is one, or on a `fresh` one. Throws for a
   * head that cannot be written.
   */
  request(head: RequestHead, fresh: boolean): ClientRequest
  close(): void
}

/** Beyond it an answer's head is refused; Node's own 16 KiB is less than some gateways send. */
const MAX_ANSWER_HEAD_BYTES = 64 * 1024

/**
 * How long a connection is kept without work, if the upstream names no time: less than what
 * servers usually keep it.
 */
const KEPT_IDLE_MS = 30_000

/**
 * Connections to `base`, an `http:` or `https:` URL without credentials, query and fragment; else
 * throws a TypeError. For `https:`, `env` may name a proxy, which is asked for a tunnel.
 */
export function createUpstream(base: URL, connectMs: number, env: ProxyEnvironment): Upstream {
  if (
    !/^https?:$/.test(base.protocol) ||
    base.username ||
    base.password ||
    base.search ||
    base.hash
  )
    throw new TypeError(
      'an upstream is an http or https URL without credentials, query and fragment',
    )
  const secure = base.protocol === 'https:'
  const send = secure ? httpsRequest : httpRequest
  const kept = { keepAlive: true, timeout: KEPT_IDLE_MS }
  // With an HTTP proxy, Node rewrites the target of plain requests. So plain upstreams are reached
  // directly.
  const agents = secure
    ? {
        pooled: new HttpsAgent({ ...kept, proxyEnv: env }),
        fresh: new HttpsAgent({ proxyEnv: env }),
      }
    : { pooled: new HttpAgent(kept), fresh: new HttpAgent() }
  const destination = {
    protocol: base.protocol,
    hostname: base.hostname.replace(/^\[|\]$/g, ''),
    ...(base.port === '' ? {} : { port: base.port }),
    maxHeaderSize: MAX_ANSWER_HEAD_BYTES,
    // Ends what is under way to a proxy whose request was given up.
    timeout: connectMs,
  }
  return {
    host: base.host,
    path: path => upstreamPath(base, path),
    request: (head, fresh) =>
      send({ ...destination, ...head, agent: fresh ? agents.fresh : agents.pooled }),
    close() {
      agents.pooled.destroy()
      agents.fresh.destroy()
    },
  }
}

/**
 * The event at which a connection can be used; `null`: it already can, as one that a proxy opened.
 */
export function eventWhenConnected(socket: Socket): 'connect' | 'secureConnect' | null {
  if ('secureConnecting' in socket) return socket.secureConnecting === true ? 'secureConnect' : null
  return socket.connecting ? 'connect' : null
}

/**
 * Whether a kept connection was closed by the upstream before it read the request.
 * @param readBefore what had come in on the connection before the request
 */
export function wasStale(
  { reusedSocket, socket }: ClientRequest,
  readBefore: number,
  { code }: NodeJS.ErrnoException,
): boolean {
  const isClosed = code === 'ECONNRESET' || code === 'EPIPE'
  return reusedSocket && isClosed && socket?.bytesRead === readBefore
}
