import type { IncomingMessage } from 'node:http'
import { GrownBytes } from '../core/base/grown-bytes.ts'
import { Guard } from './guard.ts'
import { type RawHeaders, requestHeaders } from './headers.ts'
import type { Upstream } from './upstream.ts'

/** A request of our own, which no client waits for. */
export interface OwnRequest {
  readonly path: string
  /** The headers of the client's request that it is made from. */
  readonly headers: RawHeaders
  readonly body: Uint8Array
  /** For all of it, in milliseconds. */
  readonly timeoutMs: number
}

export interface OwnAnswer {
  readonly status: number
  readonly headers: RawHeaders
  readonly bytes: Uint8Array
}

const MAX_ANSWER_BYTES = 64 * 1024

/** Asks an upstream once. Returns `null` if no whole answer came. Never rejects. */
export function askUpstream(
  upstream: Upstream,
  { path, headers: raw, body, timeoutMs }: OwnRequest,
): Promise<OwnAnswer | null> {
  const target = upstream.path(path)
  if (target === null) return Promise.resolve(null)
  const kinds = { keepExpect: false, keepUpgrade: false, keepExtensions: false, readsAnswer: true }
  const sent = { kind: 'whole', bytes: body } as const
  const options = { host: upstream.host, method: 'POST', body: sent, ...kinds }
  const head = { method: 'POST', path: target, headers: requestHeaders(raw, options) }
  return new Promise(resolve => {
    const request = upstream.request(head, false)
    const timer = setTimeout(() => request.destroy(), timeoutMs)
    timer.unref()
    const end = (answer: OwnAnswer | null) => {
      clearTimeout(timer)
      resolve(answer)
      if (answer === null) request.destroy()
    }
    const guard = new Guard(() => end(null))
    guard.on(request, 'close', () => end(null))
    guard.on(request, 'error', () => end(null))
    guard.on(request, 'response', (answer: IncomingMessage) => {
      const grown = new GrownBytes(MAX_ANSWER_BYTES)
      guard.on(answer, 'data', (chunk: Buffer) => {
        if (!grown.add(chunk)) end(null)
      })
      guard.on(answer, 'error', () => end(null))
      guard.on(answer, 'end', () => {
        end({ status: answer.statusCode ?? 0, headers: answer.rawHeaders, bytes: grown.take() })
      })
    })
    request.end(body)
  })
}
