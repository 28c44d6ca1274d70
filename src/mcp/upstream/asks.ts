import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import {
  errorOutcome,
  type Outcome,
  type RequestMessage,
  RPC_ERRORS,
  writeResponse,
} from '../json-rpc.ts'
import { EMPTY_OBJECT } from '../members.ts'
import type { UpstreamCall } from './connection.ts'

/** Whom a server's request goes to. */
export interface AskTarget {
  /** A modern server puts its questions into results, and has no requests. */
  readonly isModern: boolean
  /** The open requests of the call in question; `null` outside of calls. */
  readonly open: Set<AbortController> | null
  readonly ask: UpstreamCall['ask']
}

/** Requests of one server that may wait for their answers at a time. */
const MOST_OPEN = 32

/** Answers the requests that a server sends. */
export class Asks {
  readonly #send: (message: JsonBytes) => void
  /** By id, as bytes in Latin-1. */
  readonly #open = new Map<string, AbortController>()

  constructor(send: (message: JsonBytes) => void) {
    this.#send = send
  }

  answer({ id, method, params }: RequestMessage, { isModern, open, ask }: AskTarget): void {
    const key = id.toString('latin1')
    const refusal = this.#refusalOf(key, method, isModern)
    if (refusal !== null) {
      this.#send(writeResponse(id, refusal))
      return
    }
    const controller = new AbortController()
    this.#open.set(key, controller)
    open?.add(controller)
    const end = (outcome: Outcome) => {
      open?.delete(controller)
      const isCancelled = this.#open.get(key) !== controller
      if (isCancelled) return
      const message = writeResponse(id, outcome)
      this.#open.delete(key)
      this.#send(message)
    }
    const failed = () => end(errorOutcome(RPC_ERRORS.internal, 'the client gave no answer'))
    this.#ask(() => ask(method, params, controller.signal))
      .then(end)
      .catch(failed)
  }

  /** The server takes back its request: it gets no answer. */
  cancel(id: JsonBytes): void {
    const key = id.toString('latin1')
    this.#open.get(key)?.abort()
    this.#open.delete(key)
  }

  async #ask(ask: () => Promise<Outcome>): Promise<Outcome> {
    return await ask()
  }

  /** What is answered without asking the client; `null` if it is to be asked. */
  #refusalOf(key: string, method: string, isModern: boolean): Outcome | null {
    if (method === 'ping') return { kind: 'result', result: EMPTY_OBJECT }
    if (isModern) return errorOutcome(RPC_ERRORS.methodNotFound, 'requests go into results')
    if (this.#open.has(key)) return errorOutcome(RPC_ERRORS.invalidRequest, 'the id is in use')
    if (this.#open.size < MOST_OPEN) return null
    return errorOutcome(RPC_ERRORS.internal, 'too many requests wait for their answers')
  }
}
