import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { LineSession } from '../fronts/line-front.ts'
import { isModernRequest } from '../fronts/modern/request-rules.ts'
import {
  errorOutcome,
  type Message,
  type NotificationMessage,
  type RequestMessage,
  RPC_ERRORS,
  writeResponse,
} from '../json-rpc.ts'
import { member } from '../members.ts'
import { failureOutcome } from './bridge-failures.ts'
import { LegacyRelay } from './legacy-relay.ts'
import { ModernRelay } from './modern-relay.ts'
import type { RelayOptions } from './relay.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

/** Requests of the client that run at once. */
const MAX_OPEN = 1_000

interface Open {
  readonly method: string
  readonly controller: AbortController
  readonly isModern: boolean
}

/**
 * One client on a pipe, whose messages go to a running service and back as the bytes that they are.
 */
export class Bridge implements LineSession {
  readonly #endpoint: ServiceEndpoint
  readonly #legacy: LegacyRelay
  readonly #modern: ModernRelay
  /** Requests without an answer, by their ids as the client wrote them. */
  readonly #open = new Map<string, Open>()

  /** @param write sends a message to the client */
  constructor(endpoint: ServiceEndpoint, write: (message: JsonBytes) => void) {
    this.#endpoint = endpoint
    const options: RelayOptions = {
      endpoint,
      write,
      toClient: (message, bytes) => {
        // What is answered already, or was cancelled, has no answer any more.
        if (message.kind === 'response' && !this.#open.delete(String(message.id))) return
        write(bytes)
      },
    }
    this.#legacy = new LegacyRelay(options)
    this.#modern = new ModernRelay(options)
  }

  async receive(message: Message, line: JsonBytes): Promise<JsonBytes | null> {
    if (message.kind === 'request') return this.#request(message, line)
    if (message.kind === 'notification' && this.#cancelled(message)) return null
    await this.#legacy.send(message, line)
    return null
  }

  async close(): Promise<void> {
    for (const { controller } of this.#open.values()) controller.abort()
    this.#open.clear()
    await this.#legacy.close()
    this.#endpoint.close()
  }

  async #request(message: RequestMessage, line: JsonBytes): Promise<JsonBytes | null> {
    const { id, method, params } = message
    const key = String(id)
    if (this.#open.has(key)) return writeResponse(id, DOUBLED)
    if (this.#open.size >= MAX_OPEN) return writeResponse(id, TOO_MANY)
    const one: Open = {
      method,
      controller: new AbortController(),
      isModern: isModernRequest(params, null),
    }
    this.#open.set(key, one)
    const isDone = () => this.#open.get(key) !== one
    const relay = one.isModern ? this.#modern : this.#legacy
    const failure = await relay.request({ message, line, signal: one.controller.signal, isDone })
    if (isDone()) return null
    this.#open.delete(key)
    return failure === null
      ? null
      : writeResponse(id, failureOutcome(method, failure, one.isModern))
  }

  /** @returns whether the service need not be told: it sees that the stream is closed */
  #cancelled({ method, params }: NotificationMessage): boolean {
    if (method !== 'notifications/cancelled' || params === null) return false
    const key = String(member(params, 'requestId'))
    const one = this.#open.get(key)
    // Without its answer the client could neither go on nor begin again.
    if (one === undefined || one.method === 'initialize') return one !== undefined
    this.#open.delete(key)
    if (one.isModern) one.controller.abort()
    return one.isModern
  }
}

const DOUBLED = errorOutcome(RPC_ERRORS.invalidRequest, 'a request with this id is running')
const TOO_MANY = errorOutcome(RPC_ERRORS.internal, 'too many requests are running')
