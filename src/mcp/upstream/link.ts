import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Message } from '../json-rpc.ts'
import type { CallEnd, CallFailure } from './connection.ts'

/** Why a link has no answer for a request. */
export type LinkFailure =
  | Exclude<CallFailure, { kind: 'lost' }>
  /** `sawBytes`: whether anything of its answer came, or a notification of the call. */
  | { readonly kind: 'lost'; readonly hasRun: 'no' | 'maybe'; readonly sawBytes: boolean }
  /** The server does not know our session any more; it did not run the request. */
  | { readonly kind: 'noSession' }

export const TOO_LARGE: LinkFailure = { kind: 'malformed', detail: 'the answer is too large' }

/** Statuses of something between us and the server, which may have the request. */
const GATEWAY_STATUS: ReadonlySet<number> = new Set([502, 503, 504])

/** What an answer over HTTP means that has no message. */
export function failureOf(status: number): LinkFailure {
  if (GATEWAY_STATUS.has(status)) return { kind: 'lost', hasRun: 'maybe', sawBytes: false }
  return { kind: 'malformed', detail: `HTTP ${status} without an answer`, status }
}

/** How a request ended for the link that it was sent by. */
export type LinkEnd = Extract<CallEnd, { kind: 'answered' }> | LinkFailure

/** A request with an id of ours. */
export interface LinkRequest {
  readonly id: number
  readonly method: string
  readonly params: JsonBytes | null
  /** The whole message. */
  readonly message: JsonBytes
  /** For HTTP: values of headers that repeat parameters. */
  readonly mirrored: Readonly<Record<string, string>>
}

/**
 * Why a link takes no more requests. `closed`: nothing comes any more. `unreachable`, `noSession`:
 * requests under way may still be answered. `flooded`: the server sends too much, and is cut off.
 */
export type LinkGone = 'closed' | 'unreachable' | 'noSession' | 'flooded'

/** What a link reports. */
export interface LinkEvents {
  /** @param callId the request whose stream the message came on; `null` if it is not known */
  onMessage(message: Message, callId: number | null): void
  /** The request has no answer and will not get one. */
  onFailed(callId: number, failure: LinkFailure): void
  /** Something came that is no message. */
  onIgnored(): void
  /**
   * Not after `close`.
   * @param detail why the server never was there; a clause
   */
  onGone(reason: LinkGone, detail?: string): void
}

/** A way to a server, for as long as one process or one session of it lives. */
export interface Link {
  request(request: LinkRequest): void
  /**
   * Sends a notification or a response. Resolves once it is sent, or lost with the link.
   * @returns `null` if too many wait: the message is not taken
   */
  send(message: JsonBytes): Promise<void> | null
  /**
   * The request's answer is not needed any more.
   * @returns whether the server has to be notified: it may have the request, and cannot see this
   */
  drop(callId: number): boolean
  /** Later requests name this revision. */
  speak(protocolVersion: string): void
  /** Opens the way for messages that belong to no request. */
  listen(): void
  lastErrors(): string
  /** Resolves once nothing of the link is left. */
  close(): Promise<void>
}
