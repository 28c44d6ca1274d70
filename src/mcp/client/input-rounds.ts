import { joinJson } from '../../core/json/bytes/checked-json.ts'
import {
  type JsonBytes,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { OPEN_BRACE } from '../../core/json/char-codes.ts'
import { errorOutcome, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import { allMembers, member, textMember, withMember } from '../members.ts'
import type { CallEnd } from '../upstream/connection.ts'

/** Rounds of one call. */
const MAX_ROUNDS = 10
/** Requests for input in one round. */
const MAX_REQUESTS = 64

const RESULT = members({ resultType: RANGE, inputRequests: RANGE, requestState: RANGE })

const TOO_MANY = `the server asked for more than ${MAX_REQUESTS} inputs at once, or for one twice`

/** Sends a call with these parameters. */
type Send = (params: JsonBytes) => Promise<CallEnd>

/** Asks the client; an error of the client ends the call. */
type Ask = (method: string, params: JsonBytes | null) => Promise<Outcome>

/**
 * Plays the rounds of input that a modern server asks for inside its results, for a client that is
 * asked by requests of their own.
 * @param params of the call, as the client sent them
 */
export async function withInput(
  params: JsonBytes,
  { send, ask, signal }: { readonly send: Send; readonly ask: Ask; readonly signal: AbortSignal },
): Promise<CallEnd> {
  let end = await send(params)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const wanted = end.kind === 'answered' ? inputWanted(end.outcome) : null
    if (wanted === null) return end
    if (wanted === 'too many') return invalid(TOO_MANY)
    const answers = await answersOf(wanted, ask)
    if (signal.aborted) return { kind: 'aborted' }
    if ('error' in answers) return { kind: 'answered', outcome: answers.error }
    let next = withMember(params, 'inputResponses', answers.responses)
    if (next !== null && wanted.state !== null)
      next = withMember(next, 'requestState', wanted.state)
    if (next === null) return invalid('params have a member twice')
    end = await send(next)
  }
  const isOpen = end.kind === 'answered' && inputWanted(end.outcome) !== null
  return isOpen ? invalid(`the server asked for input in more than ${MAX_ROUNDS} rounds`) : end
}

interface Wanted {
  readonly requests: readonly {
    readonly key: string
    readonly method: string
    readonly params: JsonBytes | null
  }[]
  /** A JSON string. */
  readonly state: JsonBytes | null
}

/** What a result asks for; `null` if it is complete, or asks for nothing that can be answered. */
function inputWanted(outcome: Outcome): Wanted | 'too many' | null {
  if (outcome.kind === 'error') return null
  const { result } = outcome
  const limits = { maxBytes: result.length, maxDepth: 10_000, maxValues: 8 }
  const root = readJson(result, RESULT, limits)
  if (root === null || root.doubled) return null
  if (textOf(result, memberOf(root, 'resultType')) !== 'input_required') return null
  const at = (name: string) => {
    const node = memberOf(root, name)
    return node === undefined ? null : result.subarray(node.start, node.end)
  }
  const requests = at('inputRequests')
  const asked = requests === null ? [] : requestsOf(requests)
  if (asked === 'too many') return asked
  return asked === null ? null : { requests: asked, state: at('requestState') }
}

function requestsOf(requests: JsonBytes): Wanted['requests'] | 'too many' | null {
  if (requests[0] !== OPEN_BRACE) return null
  const all = allMembers(requests, MAX_REQUESTS)
  if (all === null) return 'too many'
  const found: { key: string; method: string; params: JsonBytes | null }[] = []
  for (const [key, request] of all) {
    const isObject = request[0] === OPEN_BRACE
    const method = isObject ? textMember(request, 'method') : null
    const params = isObject ? member(request, 'params') : undefined
    if (method === null || params === null) return null
    if (params !== undefined && params[0] !== OPEN_BRACE) return null
    found.push({ key, method, params: params ?? null })
  }
  return found
}

async function answersOf({ requests }: Wanted, ask: Ask) {
  const parts: JsonBytes[] = []
  for (const { key, method, params } of requests) {
    const outcome = await ask(method, params)
    if (outcome.kind === 'error') return { error: outcome }
    parts.push(Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(key)}:`))
    parts.push(outcome.result)
  }
  return { responses: joinJson(Buffer.from('{'), ...parts, Buffer.from('}')) }
}

function invalid(message: string): CallEnd {
  return { kind: 'answered', outcome: errorOutcome(RPC_ERRORS.internal, message) }
}
