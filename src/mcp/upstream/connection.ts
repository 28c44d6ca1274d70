import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Outcome } from '../json-rpc.ts'
import { member } from '../members.ts'

/** Revisions from 2026-07-28 on are modern: no handshake, no sessions. */
export type Era = 'modern' | 'legacy'

/** A request to an upstream. Parameters, notifications and results are unchanged bytes. */
export interface UpstreamCall {
  readonly method: string
  /** A JSON object; `null` if there is none. */
  readonly params: JsonBytes | null
  /** Aborted if the client cancels: the upstream is notified, and the call rejects. */
  readonly signal: AbortSignal
  /** Limits the call, in milliseconds; progress does not prolong it. */
  readonly timeoutMs: number
  /** Whether the call may be sent again if its connection dies before any byte came. */
  readonly canRepeat: boolean
  /** Progress and logs that belong to this call; never after its end. */
  notify(method: string, params: JsonBytes | null): void
  /**
   * What the upstream asks of the client meanwhile: sampling, elicitation, roots.
   * @param signal aborted if the upstream cancels its request, or the call ends
   */
  ask(method: string, params: JsonBytes | null, signal: AbortSignal): Promise<Outcome>
  /** For HTTP: headers that repeat parameters (`Mcp-Param-…`), as plain text. */
  readonly mirrored?: Readonly<Record<string, string>>
}

/** What a server states of itself. */
export interface ServerFacts {
  readonly era: Era
  readonly protocolVersion: string
  /** JSON objects, unchanged. */
  readonly capabilities: JsonBytes
  readonly serverInfo: JsonBytes | null
  readonly instructions: string | null
}

/** Why a call has no answer of its upstream. */
export type CallFailure =
  /** The connection died. `hasRun`: `no` if the upstream never got the request. */
  | { readonly kind: 'lost'; readonly hasRun: 'no' | 'maybe' }
  /** It is down, and was not asked. `detail`: why, if that is known; a clause. */
  | { readonly kind: 'down'; readonly detail?: string }
  /** It was not started: there are as many processes as there may be. */
  | { readonly kind: 'full' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' }
  /** It sent too much that nothing had asked for, and was disconnected during the call. */
  | { readonly kind: 'flooded' }
  /** It wants credentials that we do not have. */
  | {
      readonly kind: 'unauthorized'
      readonly authenticate: string | null
      /** What a user can do; a sentence. */
      readonly advice?: string
    }
  /** The answer was no message of MCP, or too large. `status`: of the answer over HTTP. */
  | { readonly kind: 'malformed'; readonly detail: string; readonly status?: number }

export type CallEnd = { readonly kind: 'answered'; readonly outcome: Outcome } | CallFailure

/** What happened to a connection since it was made. */
export interface UpstreamCounts {
  /** Lines, events and bodies that were no messages. */
  readonly torn: number
  /** Answers to no request of ours, late ones included, and notifications of no call. */
  readonly foreign: number
  /** Connections after the first one. */
  readonly reconnects: number
}

/**
 * One upstream as one client and one credential use it. It reconnects by itself; the eras behave
 * alike.
 */
export interface UpstreamConnection {
  /** Resolves when the server has answered the handshake; `null` if it is down. */
  facts(): Promise<ServerFacts | null>
  /** Never rejects. */
  call(call: UpstreamCall): Promise<CallEnd>
  /** Forwards a notification of the client; forgotten if the upstream is down. */
  notify(method: string, params: JsonBytes | null): void
  counts(): UpstreamCounts
  /**
   * The last of what the server wrote to standard error, or the last fault of the network: for logs
   * and `check`.
   */
  lastErrors(): string
  close(): Promise<void>
}

/** What a connection reports that belongs to no call. Must not throw. */
export interface ConnectionListener {
  /** `notifications/…/list_changed`, `notifications/resources/updated`, logs without a call. */
  onNotification(method: string, params: JsonBytes | null): void
  /** A request outside of any call, such as `roots/list` of a legacy server after its start. */
  onRequest(method: string, params: JsonBytes | null, signal: AbortSignal): Promise<Outcome>
  /** It is connected, for the first time or again. */
  onConnected(facts: ServerFacts): void
  onLost(): void
  /** Whether the client waits for what the server may send of its own accord; absent: no. */
  isListening?(): boolean
}

/** Whether a server states this capability. */
export function hasCapability({ capabilities }: ServerFacts, name: string): boolean {
  const value = member(capabilities, name)
  return value !== undefined && value !== null
}
