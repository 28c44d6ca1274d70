import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Guard } from './guard.ts'
import { pairs, type RequestBody } from './headers.ts'

/**
 * The body to forward: `bytes` if they are given, else what the head of the request announces.
 */
export function bodyOf({ headers }: IncomingMessage, bytes: Uint8Array | undefined): RequestBody {
  if (bytes !== undefined) return { kind: 'whole', bytes }
  if (headers['transfer-encoding'] !== undefined) return { kind: 'chunked' }
  return { kind: Number(headers['content-length'] ?? 0) > 0 ? 'sized' : 'none' }
}

export interface PumpOptions {
  readonly guard: Guard
  /**
   * Whether nothing is forwarded any more. The rest is then read and dropped, so that the
   * connection can be used again.
   */
  readonly over: () => boolean
  /** Called with the bytes of each chunk, and with 0 when the upstream takes more. */
  readonly moved: (bytes: number) => void
}

/** Sends a body as it comes in, no faster than the upstream takes it, with its trailers. */
export function pumpBody(
  incoming: IncomingMessage,
  request: ClientRequest,
  { guard, over, moved }: PumpOptions,
): void {
  guard.on(incoming, 'data', (chunk: Buffer) => {
    if (over()) return
    moved(chunk.length)
    if (!request.write(chunk)) incoming.pause()
  })
  guard.on(request, 'drain', () => {
    moved(0)
    incoming.resume()
  })
  guard.on(incoming, 'end', () => {
    if (over()) return
    if (request.chunkedEncoding) request.addTrailers(pairs(incoming.rawTrailers))
    request.end()
  })
}

/** Calls back once the system has taken all of a request. Until then it may still read its body. */
export function whenFinished(
  request: ClientRequest | null,
  callback: (() => void) | undefined,
  guard: Guard,
): void {
  if (callback === undefined) return
  if (request?.writableFinished === true) callback()
  else if (request !== null) guard.once(request, 'finish', callback)
}
