import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import type { Originals } from '../store/originals.ts'
import {
  errorOutcome,
  jsonBytes,
  type Outcome,
  type RequestMessage,
  RPC_ERRORS,
  readMessage,
  writeResponse,
} from './json-rpc.ts'
import { EMPTY_OBJECT, objectMember, textMember, withMember } from './members.ts'
import { callRetrieve, RETRIEVE_DEFINITION, RETRIEVE_TOOL } from './retrieve-tool.ts'

/** The revision without handshake and sessions, and those before it. */
const MODERN = '2026-07-28'
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

const META = 'io.modelcontextprotocol/'

/** Codes of the revision 2026-07-28. */
const HEADER_MISMATCH = -32020
const UNSUPPORTED_VERSION = -32022

/** Above this an original is not answered whole: some 25,000 tokens, the limit of clients. */
const MAX_ORIGINAL_BYTES = 80_000

/** How long clients may keep the list of tools, in milliseconds: it changes with the version. */
const LIST_TTL_MS = 3_600_000

export interface RetrieveEndpointNeeds {
  readonly originals: Pick<Originals, 'fetch' | 'fetchPart'>
  readonly tenant: string
  readonly version: string
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
  const message = readMessage(body)
  if (message === null) {
    return answer(
      400,
      null,
      errorOutcome(RPC_ERRORS.parse, 'one message of JSON-RPC 2.0 is wanted'),
    )
  }
  if (message.kind !== 'request') return { status: 202, body: null }
  const meta = objectMember(message.params ?? EMPTY_OBJECT, '_meta') ?? EMPTY_OBJECT
  const isModern =
    textMember(meta, VERSION_KEY) !== null || header('mcp-protocol-version') === MODERN
  return isModern
    ? answerModern(message, meta, header, needs)
    : answer(200, message.id, await legacyOutcome(message, needs))
}

const VERSION_KEY = `${META}protocolVersion`

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
      return listed()
    case 'tools/call':
      return called(params ?? EMPTY_OBJECT, needs)
    default:
      return errorOutcome(RPC_ERRORS.methodNotFound, `no method ${method}`)
  }
}

async function answerModern(
  { id, method, params }: RequestMessage,
  meta: JsonBytes,
  header: (name: string) => string | undefined,
  needs: RetrieveEndpointNeeds,
): Promise<PostAnswer> {
  const version = textMember(meta, VERSION_KEY)
  const refuse = (code: number, message: string, data?: object) =>
    answer(400, id, errorOutcome(code, message, data))
  const differs = (name: string, inBody: string | null) => {
    const sent = header(name)?.trim()
    return sent !== undefined && inBody !== null && sent !== inBody
  }
  if (differs('mcp-protocol-version', version) || differs('mcp-method', method)) {
    return refuse(HEADER_MISMATCH, 'a header differs from the body')
  }
  if (version === null || objectMember(meta, `${META}clientCapabilities`) === null) {
    return refuse(
      RPC_ERRORS.invalidParams,
      `_meta needs ${VERSION_KEY} and ${META}clientCapabilities`,
    )
  }
  if (version !== MODERN) {
    const data = { supported: [MODERN], requested: version }
    return refuse(UNSUPPORTED_VERSION, `version ${version} is not supported`, data)
  }
  const name = method === 'tools/call' ? textMember(params ?? EMPTY_OBJECT, 'name') : null
  const required = ['mcp-protocol-version', 'mcp-method', ...(name === null ? [] : ['mcp-name'])]
  const missing = required.find(each => header(each) === undefined)
  if (missing !== undefined || differs('mcp-name', name)) {
    return refuse(HEADER_MISMATCH, `the header ${missing ?? 'mcp-name'} is missing or differs`)
  }
  const outcome = await modernOutcome(method, params ?? EMPTY_OBJECT, needs)
  if (outcome === null) {
    return answer(404, id, errorOutcome(RPC_ERRORS.methodNotFound, `no method ${method}`))
  }
  return answer(200, id, outcome.kind === 'error' ? outcome : complete(outcome.result, needs))
}

/** Returns `null` for a method that there is none of. */
async function modernOutcome(
  method: string,
  params: JsonBytes,
  needs: RetrieveEndpointNeeds,
): Promise<Outcome | null> {
  const cached = { ttlMs: LIST_TTL_MS, cacheScope: 'public' }
  switch (method) {
    case 'server/discover':
      return resultOf({ supportedVersions: [MODERN], capabilities: { tools: {} }, ...cached })
    case 'tools/list':
      return listed(cached)
    case 'tools/call':
      return called(params, needs)
    default:
      return null
  }
}

/** The result with what every result of the revision 2026-07-28 has. */
function complete(result: JsonBytes, needs: RetrieveEndpointNeeds): Outcome {
  const typed = withMember(result, 'resultType', '"complete"') ?? result
  const meta = jsonBytes({ [`${META}serverInfo`]: serverInfo(needs) })
  return { kind: 'result', result: withMember(typed, '_meta', meta) ?? typed }
}

function listed(fields: object = {}): Outcome {
  const tools = Buffer.concat([Buffer.from('['), RETRIEVE_DEFINITION, Buffer.from(']')])
  return { kind: 'result', result: withMember(jsonBytes(fields), 'tools', tools) ?? EMPTY_OBJECT }
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
