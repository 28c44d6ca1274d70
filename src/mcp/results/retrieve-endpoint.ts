import { RETRIEVE_TOOL } from '../../core/contract/retrieve-tool.ts'
import { checkLargeJson } from '../../core/json/bytes/check-large-json.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { ReadableOriginals } from '../../store/originals.ts'
import type { CacheHint } from '../catalogue/cache-hints.ts'
import { completeResult } from '../fronts/modern/complete-result.ts'
import { statusOf } from '../fronts/modern/error-status.ts'
import { readModernMessage } from '../fronts/modern/read-message.ts'
import { checkRequest, isModernRequest } from '../fronts/modern/request-rules.ts'
import {
  errorOutcome,
  jsonBytes,
  type Outcome,
  type RequestMessage,
  RPC_ERRORS,
  writeResponse,
} from '../json-rpc.ts'
import { EMPTY_OBJECT, objectMember, textMember } from '../members.ts'
import { MODERN_VERSIONS } from '../upstream/handshake.ts'
import { callRetrieve, retrieveDefinition } from './retrieve-tool.ts'

/** Revisions with a handshake, the newest first. */
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** Above this an original is not answered whole: some 25,000 tokens, the limit of clients. */
const MAX_ORIGINAL_BYTES = 80_000

/** Lists change with the version only. */
const CACHED: CacheHint = { ttlMs: 3_600_000, cacheScope: 'public' }

export interface RetrieveEndpointNeeds {
  readonly originals: ReadableOriginals
  readonly tenant: string
  readonly version: string
  /** What the model is told of packed results, in the tool's description; absent: nothing. */
  readonly legend?: string
}

/** What is answered to one POST. */
export interface PostAnswer {
  readonly status: 200 | 202 | 400 | 404
  /** `null`: nothing. */
  readonly body: JsonBytes | null
}

/**
 * Answers one POST of Streamable HTTP for a server whose only tool is `haversack_retrieve`. It
 * needs no sessions: clients of all revisions are served from what they send.
 * @param header the value of a header, by its name in lower case
 */
export async function answerRetrievePost(
  body: JsonBytes,
  header: (name: string) => string | undefined,
  needs: RetrieveEndpointNeeds,
): Promise<PostAnswer> {
  await checkLargeJson(body)
  const message = readModernMessage(body)
  if (message.kind === 'unreadable') return answer(400, message.id, message.outcome)
  if (message.kind !== 'request') return { status: 202, body: null }
  const read = (name: string) => header(name) ?? null
  if (!isModernRequest(message.params, read)) {
    return answer(200, message.id, await legacyOutcome(message, needs))
  }
  const checked = checkRequest(message, read)
  if (checked.kind === 'refused') return answer(400, message.id, checked.outcome)
  const outcome = await modernOutcome(message.method, message.params ?? EMPTY_OBJECT, needs)
  return answer(statusOf(outcome), message.id, outcome)
}

async function legacyOutcome(
  { method, params }: RequestMessage,
  needs: RetrieveEndpointNeeds,
): Promise<Outcome> {
  switch (method) {
    case 'initialize': {
      const asked = textMember(params ?? EMPTY_OBJECT, 'protocolVersion')
      return resultOf({
        protocolVersion: LEGACY.find(version => version === asked) ?? LEGACY[0],
        capabilities: { tools: {} },
        serverInfo: serverInfo(needs),
      })
    }
    case 'ping':
      return resultOf({})
    case 'tools/list':
      return listed(needs)
    case 'tools/call':
      return called(params ?? EMPTY_OBJECT, needs)
    default:
      return errorOutcome(RPC_ERRORS.methodNotFound, `no method ${method}`)
  }
}

async function modernOutcome(
  method: string,
  params: JsonBytes,
  needs: RetrieveEndpointNeeds,
): Promise<Outcome> {
  const info = jsonBytes(serverInfo(needs))
  const complete = (outcome: Outcome, hint: CacheHint | null): Outcome =>
    outcome.kind === 'error'
      ? outcome
      : { kind: 'result', result: completeResult(outcome.result, info, hint) }
  switch (method) {
    case 'server/discover': {
      const about = { supportedVersions: MODERN_VERSIONS, capabilities: { tools: {} } }
      return complete(resultOf(about), CACHED)
    }
    case 'tools/list':
      return complete(listed(needs), CACHED)
    case 'tools/call':
      return complete(await called(params, needs), null)
    default:
      return errorOutcome(RPC_ERRORS.methodNotFound, `no method ${method}`)
  }
}

function listed({ legend }: RetrieveEndpointNeeds): Outcome {
  const [before, after] = ['{"tools":[', ']}'].map(text => Buffer.from(text))
  return { kind: 'result', result: Buffer.concat([before!, retrieveDefinition(legend), after!]) }
}

async function called(params: JsonBytes, needs: RetrieveEndpointNeeds): Promise<Outcome> {
  const name = textMember(params, 'name')
  if (name !== RETRIEVE_TOOL) {
    return errorOutcome(RPC_ERRORS.invalidParams, `Unknown tool: ${name}`)
  }
  const args = objectMember(params, 'arguments') ?? EMPTY_OBJECT
  const retriever = { tenant: needs.tenant, reader: null }
  return callRetrieve(args, retriever, needs.originals, { maxBytes: MAX_ORIGINAL_BYTES })
}

function serverInfo({ version }: RetrieveEndpointNeeds) {
  return { name: 'haversack', version }
}

function resultOf(value: object): Outcome {
  return { kind: 'result', result: jsonBytes(value) }
}

function answer(status: PostAnswer['status'], id: JsonBytes | null, outcome: Outcome): PostAnswer {
  return { status, body: writeResponse(id, outcome) }
}
