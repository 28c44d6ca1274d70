import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { GrownBytes } from '../../core/base/grown-bytes.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Guard } from '../../proxy/guard.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonBytes | null
  readonly agent: Agent
  readonly signal: AbortSignal
  readonly guard: Guard
}

/** How a request ended: with the head of an answer, or without one. */
export type HttpEnd =
  | { readonly kind: 'head'; readonly answer: IncomingMessage }
  /** `reached`: whether there was a connection, so that the server may have the request. */
  | { readonly kind: 'failed'; readonly reached: boolean; readonly detail: string }
  | { readonly kind: 'refused'; readonly detail: string }

/** Bytes of an answer that has no message: a report of an error, or what answers a notification. */
export const ERROR_BYTES = 1024 * 1024
/** How long an exchange may stay open after its answer, for its connection to be used again. */
export const AFTER_ANSWER_MS = 1000
/** For sending what has no answer that is waited for. */
export const SEND_MS = 30_000

const REDIRECTS = new Set([301, 302, 307, 308])
const MOST_REDIRECTS = 3
/** Finds peers that are gone without a word. */
const KEEP_ALIVE_MS = 15_000

/**
 * Sends one request. Redirects are followed within the origin only, as the same request: another
 * origin may be a metadata address, and must not see our credentials. Never rejects.
 */
export async function exchange(request: HttpRequest): Promise<HttpEnd> {
  let { url } = request
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const end = await sendOnce({ ...request, url })
    if (end.kind !== 'head' || !REDIRECTS.has(end.answer.statusCode ?? 0)) return end
    end.answer.destroy()
    const location = end.answer.headers.location ?? ''
    const next = URL.parse(location, url)
    if (location === '' || next === null)
      return { kind: 'refused', detail: 'a redirect to nowhere' }
    if (next.origin !== url.origin) {
      return { kind: 'refused', detail: 'a redirect to another origin' }
    }
    url = next
  }
  return { kind: 'refused', detail: 'too many redirects' }
}

function sendOnce({ url, body, guard, signal, ...options }: HttpRequest): Promise<HttpEnd> {
  return new Promise(resolve => {
    let reached = false
    const fail = (error: Error) => resolve({ kind: 'failed', reached, detail: error.message })
    try {
      const send = url.protocol === 'https:' ? requestHttps : requestHttp
      const request = send(url, options)
      const abort = () => void request.destroy(new Error('not wanted any more'))
      signal.addEventListener('abort', abort)
      guard.once(request, 'close', () => signal.removeEventListener('abort', abort))
      if (signal.aborted) abort()
      guard.on(request, 'error', fail)
      guard.on(request, 'socket', (socket: Socket) => {
        socket.setKeepAlive(true, KEEP_ALIVE_MS)
        reached = !socket.connecting
        const connected = url.protocol === 'https:' ? 'secureConnect' : 'connect'
        if (reached) return
        guard.once(socket, connected, () => {
          reached = true
        })
      })
      guard.on(request, 'response', (answer: IncomingMessage) => {
        // Readers of the body see that it was cut; without a handler the error would be thrown.
        guard.on(answer, 'error', () => {})
        resolve({ kind: 'head', answer })
      })
      // Nothing would read the connection, and it would stay open.
      guard.on(request, 'upgrade', (_: IncomingMessage, socket: Socket) => {
        socket.destroy()
        fail(new Error('a change of protocol'))
      })
      request.end(body ?? undefined)
    } catch (error) {
      // A header that cannot be written: nothing was sent.
      resolve({ kind: 'refused', detail: String(error) })
    }
  })
}

/**
 * Reads a body piece by piece.
 * @param onChunk returns `false` if nothing more is wanted: the connection is closed
 * @returns whether the body came to its end
 */
export function readBody(
  answer: IncomingMessage,
  guard: Guard,
  onChunk: (chunk: JsonBytes) => boolean,
): Promise<boolean> {
  return new Promise(resolve => {
    guard.on(answer, 'data', (chunk: JsonBytes) => {
      if (!onChunk(chunk)) answer.destroy()
    })
    guard.once(answer, 'end', () => resolve(true))
    guard.once(answer, 'close', () => resolve(false))
  })
}

/** All of a body, or why there is none. */
export async function readWhole(
  answer: IncomingMessage,
  guard: Guard,
  maxBytes: number,
): Promise<JsonBytes | 'cut' | 'too large'> {
  const body = new GrownBytes(maxBytes)
  let isWithinBound = true
  const isWhole = await readBody(answer, guard, chunk => {
    isWithinBound = body.add(chunk)
    return isWithinBound
  })
  if (!isWithinBound) return 'too large'
  return isWhole ? body.take() : 'cut'
}

export function isEventStream({ headers }: IncomingMessage): boolean {
  return (headers['content-type'] ?? '').toLowerCase().startsWith('text/event-stream')
}
