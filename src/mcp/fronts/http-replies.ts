import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { errorOutcome, writeResponse } from '../json-rpc.ts'
import type { HttpReply } from './http-exchange.ts'

type Headers = Readonly<Record<string, string>>

export function jsonReply(status: number, body: JsonBytes, headers: Headers = {}): HttpReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body }
}

/** An answer without a body. */
export function emptyReply(status: number, headers: Headers = {}): HttpReply {
  return { status, headers, body: null }
}

/** Proxies on the way must neither hold events back nor change them. */
export const STREAM_TYPE = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

export function streamReply(body: ReadableStream<Uint8Array>): HttpReply {
  return { status: 200, headers: STREAM_TYPE, body }
}

interface RefusalReply {
  /** A code of JSON-RPC or MCP. */
  readonly code: number
  readonly message: string
  /** The id of the request; `null` if there is none, or it could not be read. */
  readonly id?: JsonBytes | null
  readonly data?: object
  readonly headers?: Headers
}

/** A request that was not carried out. */
export function refusal(
  status: number,
  { code, message, id = null, data, headers = {} }: RefusalReply,
): HttpReply {
  return jsonReply(status, writeResponse(id, errorOutcome(code, message, data)), headers)
}
