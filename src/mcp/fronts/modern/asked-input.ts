import {
  type JsonBytes,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../../core/json/bytes/json-node.ts'
import { readJson } from '../../../core/json/bytes/read-json.ts'
import { OPEN_BRACE } from '../../../core/json/char-codes.ts'
import { errorOutcome, type Outcome, RPC_ERRORS } from '../../json-rpc.ts'
import { allMembers, EMPTY_OBJECT, member, objectMember, textMember } from '../../members.ts'
import { MODERN_ERRORS } from './request-rules.ts'

/** A result that is not the last one of its call, or names a task. */
export interface OpenResult {
  readonly type: 'input_required' | 'task'
  /** JSON values; `null` if the result has none. */
  readonly inputRequests: JsonBytes | null
  readonly requestState: JsonBytes | null
  readonly taskId: JsonBytes | null
}

const OPEN = members({
  resultType: RANGE,
  inputRequests: RANGE,
  requestState: RANGE,
  taskId: RANGE,
})

/** Reads what a modern server wants of a client; `null` if the result is complete. */
export function readOpenResult(result: JsonBytes): OpenResult | null {
  const limits = { maxBytes: result.length, maxDepth: 10_000, maxValues: 8 }
  const root = readJson(result, OPEN, limits)
  if (root === null || root.doubled) return null
  const type = textOf(result, memberOf(root, 'resultType'))
  if (type !== 'input_required' && type !== 'task') return null
  const at = (name: string) => {
    const node = memberOf(root, name)
    return node === undefined ? null : result.subarray(node.start, node.end)
  }
  const [inputRequests, requestState, taskId] = ['inputRequests', 'requestState', 'taskId'].map(at)
  return {
    type,
    inputRequests: inputRequests ?? null,
    requestState: requestState ?? null,
    taskId: taskId ?? null,
  }
}

/** Requests for input in one round. */
const MOST_REQUESTS = 64
const TOO_MANY = `the server asked for more than ${MOST_REQUESTS} inputs at once, or for one twice`

/**
 * The first capability that a client lacks for what it is asked.
 * @param requests `inputRequests`: a JSON value
 * @returns the error −32021, or that there are too many requests; `null` if the client may be
 *   asked all of it
 */
export function refusedInput(requests: JsonBytes, capabilities: JsonBytes): Outcome | null {
  if (requests[0] !== OPEN_BRACE) return null
  const all = allMembers(requests, MOST_REQUESTS)
  if (all === null) return errorOutcome(RPC_ERRORS.internal, TOO_MANY)
  for (const request of all.values()) {
    const refused =
      request[0] !== OPEN_BRACE
        ? null
        : refusedRequest(textMember(request, 'method'), member(request, 'params'), capabilities)
    if (refused !== null) return refused
  }
  return null
}

/** The same for one request. */
export function refusedRequest(
  method: string | null,
  params: JsonBytes | null | undefined,
  capabilities: JsonBytes,
): Outcome | null {
  const needed = neededFor(method, params ?? EMPTY_OBJECT)
  if (needed === null || declares(capabilities, needed)) return null
  const requiredCapabilities = needed.reduceRight<object>((inner, name) => ({ [name]: inner }), {})
  const message = `the server asks for input that needs the capability ${needed.join('.')}`
  return errorOutcome(MODERN_ERRORS.missingCapability, message, { requiredCapabilities })
}

/** The path of a capability; `null` if none is needed. */
function neededFor(method: string | null, params: JsonBytes): readonly string[] | null {
  if (method === 'roots/list') return ['roots']
  if (method === 'sampling/createMessage') {
    return member(params, 'tools') === undefined ? ['sampling'] : ['sampling', 'tools']
  }
  if (method !== 'elicitation/create') return null
  return textMember(params, 'mode') === 'url' ? ['elicitation', 'url'] : ['elicitation', 'form']
}

/** An empty `elicitation` means forms. */
function declares(capabilities: JsonBytes, [first, second]: readonly string[]): boolean {
  const outer = objectMember(capabilities, first as string)
  if (outer === null || second === undefined) return outer !== null
  if (objectMember(outer, second) !== null) return true
  return second === 'form' && member(outer, 'url') === undefined
}
