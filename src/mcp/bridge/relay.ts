import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { RequestMessage } from '../json-rpc.ts'
import type { OnMessage } from './read-answer.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

/** A request of the client that has no answer yet. */
export interface OpenRequest {
  readonly message: RequestMessage
  /** The bytes of the message. */
  readonly line: JsonBytes
  /** Aborted when its answer is not wanted any more. */
  readonly signal: AbortSignal
  /** Whether the client has its answer, or wants none. */
  isDone(): boolean
}

export interface RelayOptions {
  readonly endpoint: ServiceEndpoint
  /** Takes what the service sends to the client. */
  readonly toClient: OnMessage
  /** Sends a message of our own to the client. */
  write(message: JsonBytes): void
}
