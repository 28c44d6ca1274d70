import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { objectMember, textMember } from '../members.ts'
import type { HttpEnd } from '../upstream/http-exchange.ts'
import { acceptHeader, versionHeader } from '../upstream/http-headers.ts'
import { sessionOf } from '../upstream/http-session.ts'
import { type BridgeFailure, CUT, lostBy, refusedBy } from './bridge-failures.ts'
import { type OnMessage, readAnswer } from './read-answer.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

/** How long the service may take to end a session, in milliseconds. */
const END_MS = 2_000

/** A session of the service with a client of a revision before 2026-07-28. */
export class ServiceSession {
  /** Aborted when the session is not used any more. */
  readonly ended = new AbortController()
  /** What the service can do, as its handshake says; a JSON object. */
  readonly capabilities: JsonBytes | null
  readonly #endpoint: ServiceEndpoint
  readonly #headers: Readonly<Record<string, string>>

  /** @param result of the handshake; a JSON object */
  constructor(endpoint: ServiceEndpoint, id: string | null, result: JsonBytes) {
    this.#endpoint = endpoint
    this.capabilities = objectMember(result, 'capabilities')
    this.#headers = {
      ...(id === null ? {} : { 'mcp-session-id': id }),
      ...versionHeader(textMember(result, 'protocolVersion')),
    }
  }

  /** Sends a message; waits for a service that has just gone. */
  post(body: JsonBytes, signal: AbortSignal): Promise<HttpEnd> {
    return postTo(this.#endpoint, this.#headers, body, signal)
  }

  /** Opens a stream that continues after an event. Does not wait for the service. */
  listen(lastId: string | null, signal: AbortSignal): Promise<HttpEnd> {
    const resumed = lastId === null ? {} : { 'last-event-id': lastId }
    return this.#endpoint.sendOnce({
      method: 'GET',
      headers: { ...acceptHeader('GET', 'legacy'), ...this.#headers, ...resumed },
      body: null,
      signal,
    })
  }

  async end(): Promise<void> {
    this.ended.abort()
    const controller = new AbortController()
    const cancel = this.#endpoint.clock.after(END_MS, () => controller.abort())
    const end = await this.#endpoint.sendOnce({
      method: 'DELETE',
      headers: this.#headers,
      body: null,
      signal: controller.signal,
    })
    if (end.kind === 'head') end.answer.destroy()
    cancel()
  }
}

/**
 * Opens a session by a handshake.
 * @param onMessage takes the answer
 */
export async function openSession(
  endpoint: ServiceEndpoint,
  handshake: JsonBytes,
  signal: AbortSignal,
  onMessage: OnMessage,
): Promise<ServiceSession | BridgeFailure> {
  const end = await postTo(endpoint, {}, handshake, signal)
  if (end.kind !== 'head') return lostBy(end)
  let result: JsonBytes | null = null
  let hasAnswer = false
  const { text } = await readAnswer(end.answer, endpoint.guard, (message, bytes) => {
    if (message.kind === 'response') {
      hasAnswer = true
      if (message.outcome.kind === 'result') result = message.outcome.result
    }
    onMessage(message, bytes)
  })
  if (result !== null) return new ServiceSession(endpoint, sessionOf(end.answer), result)
  return end.answer.statusCode === 200 && !hasAnswer ? CUT : refusedBy(end.answer, text)
}

function postTo(
  endpoint: ServiceEndpoint,
  headers: Readonly<Record<string, string>>,
  body: JsonBytes,
  signal: AbortSignal,
): Promise<HttpEnd> {
  return endpoint.send({
    method: 'POST',
    headers: { ...acceptHeader('POST', 'legacy'), ...headers },
    body,
    signal,
  })
}
