import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Clock } from './clock.ts'
import type { ConnectionListener } from './connection.ts'
import type { Verdicts } from './verdicts.ts'

/** Where a server is, as the configuration names it. */
export type ServerTarget =
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** Added to the minimal environment. */
      readonly env: Readonly<Record<string, string>>
      /** The folder it runs in; `null` for ours. */
      readonly cwd: string | null
      /** The environment of this process, of which a child gets the minimum. */
      readonly processEnvironment: Readonly<Record<string, string | undefined>>
    }
  | {
      readonly kind: 'http'
      readonly url: URL
      /** Configured, forwarded and authorizing headers; asked for each request. */
      headers(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
      /** What may help if the server refuses these headers. */
      readonly renewal?: HeaderRenewal
    }

/** New headers in place of refused ones. */
export interface HeaderRenewal {
  /**
   * Asked once for a request that was answered with 401 or 403. Never rejects.
   * @param sent the `Authorization` of the request
   * @returns whether the request is worth sending once more
   */
  renew(refusal: UpstreamRefusal, sent: string | undefined): Promise<boolean>
  /** Calls the handler when there may be other headers. Returns what ends that. */
  onChange(handler: () => void): () => void
  /** What a user can do about a refusal; a sentence. */
  readonly advice: string
}

/** A refusal of credentials. */
export interface UpstreamRefusal {
  readonly status: number
  /** `WWW-Authenticate`. */
  readonly authenticate: string | null
}

/** What we state of the client to a server: JSON objects. */
export interface ClientClaims {
  readonly capabilities: JsonBytes
  readonly clientInfo: JsonBytes
}

export interface UpstreamOptions {
  /** For logs. */
  readonly name: string
  readonly target: ServerTarget
  readonly claims: ClientClaims
  readonly listener: ConnectionListener
  /** Which era each server is of; shared by all connections. */
  readonly verdicts: Verdicts
  /** Names the server and the credential in `verdicts`. */
  readonly verdictKey: string
  readonly limits?: Partial<UpstreamLimits>
  readonly clock?: Clock
  /** Must not throw. */
  log?(event: string, fields: Readonly<Record<string, unknown>>): void
}

export interface UpstreamLimits {
  /** Bytes of one message. */
  readonly messageBytes: number
  /** Bytes of messages that wait for a child to read them. */
  readonly outboxBytes: number
  /** For the answer to `server/discover`. A server that gives none counts as a legacy one. */
  readonly probeMs: number
  /** For the answer to `initialize`, or to `server/discover` of a server known to be modern. */
  readonly handshakeMs: number
  /** What a call waits for the first connection. */
  readonly firstWaitMs: number
  /** What a call waits for a connection that was lost. */
  readonly downWaitMs: number
  /** Between SIGTERM and SIGKILL, and for the end of a session over HTTP. */
  readonly endMs: number
}

export const DEFAULT_LIMITS: UpstreamLimits = {
  messageBytes: 100 * 1024 * 1024,
  outboxBytes: 256 * 1024 * 1024,
  probeMs: 5000,
  handshakeMs: 60_000,
  firstWaitMs: 10_000,
  downWaitMs: 2000,
  endMs: 5000,
}
