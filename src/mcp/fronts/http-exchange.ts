import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { ForwardedHeaders } from '../client/forwarded-headers.ts'

/** Who sends a request, by its key. */
export interface McpCaller {
  readonly tenant: string
  /** Callers with the same text share nothing less than a credential: the id of their key. */
  readonly credential: string
  /** Headers of the request that go on to servers, if any wants them. */
  readonly forwarded?: ForwardedHeaders
  /** The project that the key or the client names. */
  readonly project?: string
}

/** One HTTP request for an MCP endpoint. Keys, Host and Origin have been checked. */
export interface HttpExchange {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** Empty unless it is a POST. */
  readonly body: JsonBytes
  /** @param name in lower case */
  header(name: string): string | null
  readonly caller: McpCaller
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
}

export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A stream for `text/event-stream`; it ends when the exchange is over. */
  readonly body: JsonBytes | ReadableStream<Uint8Array> | null
}

/** Serves one kind of clients over HTTP. */
export interface HttpFront {
  /** Never rejects. */
  answer(exchange: HttpExchange): Promise<HttpReply>
  /** Ends all streams and calls. */
  close(): Promise<void>
}
