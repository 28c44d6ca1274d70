import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import type { Rounds, SendAs, ServerRequest } from '../../gateway-options.ts'
import { errorOutcome, type Outcome, RPC_ERRORS } from '../../json-rpc.ts'
import { member, withMember } from '../../members.ts'
import type { Clock } from '../../upstream/clock.ts'
import type { CallEnd } from '../../upstream/connection.ts'
import type { McpCaller } from '../http-exchange.ts'
import { readOpenResult, refusedInput } from './asked-input.ts'
import { OpenCall, type Waiting } from './open-call.ts'
import type { ParkedCalls } from './parked-calls.ts'
import type { RequestStates } from './request-state.ts'
import type { TaskHandles } from './task-handles.ts'

/** What all rounds of a front share. */
export interface RoundNeeds {
  readonly states: RequestStates
  readonly parked: ParkedCalls
  readonly tasks: TaskHandles
  readonly clock: Clock
}

/** The request of a client that a round is played for. */
export interface RoundClient {
  readonly caller: McpCaller
  /** A JSON object. */
  readonly capabilities: JsonBytes
  readonly waiting: Waiting
  /** Keeps the client's connections until the returned function is called. */
  hold(): () => void
}

/**
 * Plays one round of a call for a client that is asked inside results. A modern server's questions
 * pass, with its state sealed. A call to a server of an earlier revision waits for the next round.
 */
export function createRounds(needs: RoundNeeds, client: RoundClient): Rounds {
  return (request, send) => new Round(needs, client, request).play(send)
}

class Round {
  readonly #needs: RoundNeeds
  readonly #client: RoundClient
  readonly #request: ServerRequest

  constructor(needs: RoundNeeds, client: RoundClient, request: ServerRequest) {
    this.#needs = needs
    this.#client = client
    this.#request = request
  }

  async play(send: SendAs): Promise<CallEnd> {
    const { states, parked } = this.#needs
    const request = this.#request
    const { params } = request
    const given = member(params, 'requestState')
    if (given === undefined) return this.#send(params, send)
    const state = given && states.read(request, this.#client.caller, given)
    if (state === null) return INVALID_STATE
    if (state.kind === 'server') {
      const sent = withMember(params, 'requestState', state.state)
      return sent === null ? INVALID_STATE : this.#send(sent, send)
    }
    const call = parked.take(state.id)
    if (call === null) return INVALID_STATE
    const responses = member(params, 'inputResponses')
    if (responses != null) call.answer(responses)
    return this.#follow(call)
  }

  async #send(params: JsonBytes, send: SendAs): Promise<CallEnd> {
    const { isModern, timeoutMs } = this.#request
    if (!isModern) {
      const { capabilities, hold } = this.#client
      const call = new OpenCall(capabilities, this.#needs.clock)
      call.start({ ...this.#request, params }, send, hold())
      return this.#follow(call)
    }
    const { signal, notify } = this.#client.waiting
    const ask = () => Promise.resolve(NO_REQUESTS)
    return this.#passed(await send(params, { signal, timeoutMs, notify, ask }))
  }

  async #follow(call: OpenCall): Promise<CallEnd> {
    const end = await call.next(this.#client.waiting)
    if (end !== 'asks') return this.#passed(end)
    const { caller } = this.#client
    const { states, parked } = this.#needs
    const requests = call.inputRequests()
    const id = parked.park(caller.tenant, call)
    if (id === null) {
      call.cancel('aborted', 'too many calls wait for input')
      const message = 'too many calls wait for input; this one was cancelled'
      return { kind: 'answered', outcome: errorOutcome(RPC_ERRORS.internal, message) }
    }
    const state = states.write(this.#request, caller, { kind: 'parked', id })
    const result = Buffer.concat([
      Buffer.from('{"resultType":"input_required","inputRequests":'),
      requests,
      Buffer.from(`,"requestState":${state}}`),
    ])
    return { kind: 'answered', outcome: { kind: 'result', result } }
  }

  /** What a server answered, with its states and handles sealed. */
  #passed(end: CallEnd): CallEnd {
    if (end.kind !== 'answered' || end.outcome.kind === 'error') return end
    const { result } = end.outcome
    const open = readOpenResult(result)
    if (open === null) return end
    const { caller, capabilities } = this.#client
    const request = this.#request
    if (open.type === 'task') {
      if (open.taskId === null) return end
      const handle = this.#needs.tasks.write(request.server, caller, open.taskId)
      return resultOf(withMember(result, 'taskId', handle) ?? result)
    }
    const refused = open.inputRequests && refusedInput(open.inputRequests, capabilities)
    if (refused !== null) return { kind: 'answered', outcome: refused }
    if (open.requestState === null) return end
    const state = { kind: 'server', state: open.requestState } as const
    const sealed = this.#needs.states.write(request, caller, state)
    return resultOf(withMember(result, 'requestState', sealed) ?? result)
  }
}

/** Modern servers send no requests. */
const NO_REQUESTS: Outcome = errorOutcome(RPC_ERRORS.methodNotFound, 'requests go into results')

const INVALID_STATE: CallEnd = {
  kind: 'answered',
  outcome: errorOutcome(RPC_ERRORS.invalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  }),
}

function resultOf(result: JsonBytes): CallEnd {
  return { kind: 'answered', outcome: { kind: 'result', result } }
}
