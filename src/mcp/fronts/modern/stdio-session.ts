import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import {
  errorOutcome,
  type Message,
  type NotificationMessage,
  type Outcome,
  type RequestMessage,
  RPC_ERRORS,
  writeNotification,
  writeResponse,
} from '../../json-rpc.ts'
import { EMPTY_OBJECT, member, textMember } from '../../members.ts'
import { MODERN_VERSIONS } from '../../upstream/handshake.ts'
import type { McpCaller } from '../http-exchange.ts'
import { ModernServer, type ModernServerOptions } from './modern-server.ts'
import { isModernRequest, MODERN_ERRORS } from './request-rules.ts'

/** The one client of a process. */
const CALLER: McpCaller = { tenant: 'local', credential: 'stdio' }

/** A client of the revision 2026-07-28 on a pipe: many requests at once, each with its id. */
export class ModernSession {
  readonly #server: ModernServer
  readonly #send: (message: JsonBytes) => void
  /** Requests under way, by their ids as the client wrote them. */
  readonly #running = new Map<string, AbortController>()

  constructor(options: ModernServerOptions, send: (message: JsonBytes) => void) {
    this.#server = new ModernServer(options)
    this.#send = send
  }

  /** @returns the answer to a request; `null` if there is none to send. Never rejects. */
  async receive(message: Message): Promise<JsonBytes | null> {
    if (message.kind === 'notification') this.#notified(message)
    if (message.kind !== 'request') return null
    const key = message.id.toString()
    if (this.#running.has(key)) return writeResponse(message.id, DOUBLED)
    const controller = new AbortController()
    this.#running.set(key, controller)
    try {
      const outcome = await this.#outcomeOf(message, controller.signal)
      return outcome === null ? null : writeResponse(message.id, outcome)
    } finally {
      this.#running.delete(key)
    }
  }

  /** Ends what listens with answers, and everything else without. */
  async close(): Promise<void> {
    await this.#server.close()
    for (const running of this.#running.values()) running.abort()
  }

  async #outcomeOf(message: RequestMessage, signal: AbortSignal): Promise<Outcome | null> {
    if (message.method === 'initialize' && !isModernRequest(message.params, null)) {
      const requested = textMember(message.params ?? EMPTY_OBJECT, 'protocolVersion')
      const data = { supported: MODERN_VERSIONS, requested }
      return errorOutcome(MODERN_ERRORS.unsupportedVersion, 'there is no handshake here', data)
    }
    const answer = await this.#server.answer({
      message,
      caller: CALLER,
      header: null,
      signal,
      notify: (method, params) => {
        this.#send(writeNotification(method, params))
        return true
      },
    })
    return answer?.outcome ?? null
  }

  #notified({ method, params }: NotificationMessage): void {
    if (method !== 'notifications/cancelled' || params === null) return
    const id = member(params, 'requestId')
    if (id != null) this.#running.get(id.toString())?.abort()
  }
}

const DOUBLED = errorOutcome(RPC_ERRORS.invalidRequest, 'a request with this id is running')
