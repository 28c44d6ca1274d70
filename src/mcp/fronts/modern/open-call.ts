import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { OPEN_BRACE } from '../../../core/json/char-codes.ts'
import type { SendAs, ServerRequest } from '../../gateway-options.ts'
import { errorOutcome, type Outcome, RPC_ERRORS } from '../../json-rpc.ts'
import { member, objectMember, shortValue } from '../../members.ts'
import type { Clock } from '../../upstream/clock.ts'
import type { CallEnd } from '../../upstream/connection.ts'
import { refusedRequest } from './asked-input.ts'

/** Questions of one call, all rounds together. */
const MOST_ASKED = 64

/** What a client hears and ends while it waits. */
export interface Waiting {
  readonly signal: AbortSignal
  notify(method: string, params: JsonBytes | null): void
}

interface InputQuestion {
  readonly method: string
  readonly params: JsonBytes | null
  settle(outcome: Outcome): void
}

/** What a client can answer. */
const ASKABLE: ReadonlySet<string> = new Set([
  'elicitation/create',
  'sampling/createMessage',
  'roots/list',
])

/**
 * A call to a server of an earlier revision, which asks by requests. The client answers by new
 * requests of its own, and the call continues between them.
 */
export class OpenCall {
  readonly #capabilities: JsonBytes
  readonly #clock: Clock
  readonly #stop = new AbortController()
  /** By the keys that the client knows. */
  readonly #questions = new Map<string, InputQuestion>()
  #asked = 0
  #waiting: Waiting | null = null
  #end: CallEnd | null = null
  #onChange = () => {}
  #limitMs = 0

  /** @param capabilities of the client: a JSON object */
  constructor(capabilities: JsonBytes, clock: Clock) {
    this.#capabilities = capabilities
    this.#clock = clock
  }

  /** Sends the call. `onDone` is called when the server has answered, or never will. */
  start({ params, timeoutMs }: ServerRequest, send: SendAs, onDone: () => void): void {
    this.#limitMs = timeoutMs
    const sent = send(params, {
      signal: this.#stop.signal,
      // Time that the client takes does not count: `next` limits the rest.
      timeoutMs: Number.POSITIVE_INFINITY,
      notify: (method, about) => this.#waiting?.notify(method, about),
      ask: (method, about, signal) => this.#ask(method, about, signal),
    })
    void sent.then(end => this.#ended(end)).finally(onDone)
  }

  /** Waits for its end, or for a question. If the client goes meanwhile, the call is cancelled. */
  async next(waiting: Waiting): Promise<CallEnd | 'asks'> {
    if (waiting.signal.aborted) this.cancel('aborted')
    this.#waiting = waiting
    const abort = () => this.cancel('aborted')
    waiting.signal.addEventListener('abort', abort)
    const cancelLimit = this.#clock.after(this.#limitMs, () => this.cancel('timeout'))
    try {
      while (this.#end === null && this.#questions.size === 0) {
        await new Promise<void>(resolve => {
          this.#onChange = resolve
        })
      }
      return this.#end ?? 'asks'
    } finally {
      this.#waiting = null
      cancelLimit()
      waiting.signal.removeEventListener('abort', abort)
    }
  }

  /** The open questions: a JSON object. */
  inputRequests(): JsonBytes {
    const parts = [...this.#questions].flatMap(([key, { method, params }], at) => [
      Buffer.from(`${at === 0 ? '{' : ','}"${key}":{"method":${JSON.stringify(method)}`),
      ...(params === null ? [] : [Buffer.from(',"params":'), params]),
      Buffer.from('}'),
    ])
    return Buffer.concat([...parts, Buffer.from('}')])
  }

  /**
   * Gives the answers to open questions to the server; everything else is ignored.
   * @param responses what the client sent as `inputResponses`, of any shape
   */
  answer(responses: JsonBytes): void {
    if (responses[0] !== OPEN_BRACE) return
    for (const [key, question] of [...this.#questions]) {
      const result = objectMember(responses, key)
      if (result === null || !hasShape(question.method, result)) continue
      this.#questions.delete(key)
      question.settle({ kind: 'result', result })
    }
  }

  /** Ends the call, and lets the server know. */
  cancel(kind: 'aborted' | 'timeout', reason?: string): void {
    this.#ended({ kind })
    this.#stop.abort(reason)
  }

  #ask(method: string, params: JsonBytes | null, signal: AbortSignal): Promise<Outcome> {
    if (!ASKABLE.has(method) || this.#end !== null) {
      return Promise.resolve(errorOutcome(RPC_ERRORS.methodNotFound, `no method ${method}`))
    }
    const refused =
      refusedRequest(method, params, this.#capabilities) ??
      (this.#asked >= MOST_ASKED
        ? errorOutcome(RPC_ERRORS.internal, `the server asked more than ${MOST_ASKED} times`)
        : null)
    if (refused !== null) {
      this.#ended({ kind: 'answered', outcome: refused })
      this.#stop.abort()
      return Promise.resolve(refused)
    }
    const key = `input_${++this.#asked}`
    return new Promise(resolve => {
      const settle = (outcome: Outcome) => {
        signal.removeEventListener('abort', withdraw)
        resolve(outcome)
      }
      const withdraw = () => {
        this.#questions.delete(key)
        settle(errorOutcome(RPC_ERRORS.internal, 'the question was withdrawn'))
      }
      signal.addEventListener('abort', withdraw)
      this.#questions.set(key, { method, params, settle })
      this.#onChange()
    })
  }

  #ended(end: CallEnd): void {
    if (this.#end !== null) return
    this.#end = end
    this.#questions.clear()
    this.#onChange()
  }
}

const ACTIONS: ReadonlySet<unknown> = new Set(['accept', 'decline', 'cancel'])

/** Whether an answer can be one to this request: servers of SDKs end calls for others. */
function hasShape(method: string, result: JsonBytes): boolean {
  if (method === 'roots/list') return member(result, 'roots')?.[0] === OPEN_BRACKET
  if (method === 'sampling/createMessage') {
    return member(result, 'role') != null && member(result, 'content') != null
  }
  const action = member(result, 'action')
  return action != null && ACTIONS.has(shortValue(action))
}

const OPEN_BRACKET = 0x5b
