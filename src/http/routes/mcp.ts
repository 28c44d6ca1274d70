import type { Hono } from 'hono'
import { AppError } from '../../core/base/errors.ts'
import type { HttpExchange, HttpFront, HttpReply } from '../../mcp/fronts/http-exchange.ts'
import { emptyReply } from '../../mcp/fronts/http-replies.ts'
import { answerRetrievePost } from '../../mcp/results/retrieve-endpoint.ts'
import type { Admission } from '../../pool/admission.ts'
import { VERSION } from '../../runtime/version.ts'
import type { ReadableOriginals } from '../../store/originals.ts'
import type { AppContext, AppDeps, AppEnv } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { announcedLength, readBody } from '../request/body.ts'
import { projectTerm } from '../request/request-terms.ts'
import type { Route } from './route.ts'

type McpNeeds = RetrieveNeeds & Pick<AppDeps, 'mcp' | 'maxBodyBytes'>

const ALL = '/mcp'
const ONE = '/mcp/servers/:name'

/** MCP servers over Streamable HTTP: all that are configured, and each of them. */
export const MCP_ROUTES: readonly Route<McpNeeds>[] = [
  mcpRoute('post', ALL, 'Messages for all configured MCP servers and haversack_retrieve'),
  mcpRoute('get', ALL, 'Messages of these servers that answer no request'),
  mcpRoute('delete', ALL, 'The end of a session with these servers'),
  mcpRoute('post', ONE, 'Messages for one configured MCP server'),
  mcpRoute('get', ONE, 'Messages of this server that answer no request'),
  mcpRoute('delete', ONE, 'The end of a session with this server'),
]

function mcpRoute(
  method: 'post' | 'get' | 'delete',
  path: typeof ALL | typeof ONE,
  summary: string,
): Route<McpNeeds> {
  return {
    method,
    path,
    summary,
    scope: path === ALL ? ['mcp', 'retrieve'] : 'mcp',
    answer: { media: method === 'get' ? 'text/event-stream' : 'application/json' },
    mount: (app: Hono<AppEnv>, needs) =>
      app.on(method.toUpperCase(), path, c => serve(c, c.req.param('name') ?? null, needs)),
  }
}

async function serve(c: AppContext, server: string | null, needs: McpNeeds): Promise<Response> {
  const { caller } = c.get('state')
  const front = caller.scopes.has('mcp') ? (needs.mcp?.find(server, caller) ?? null) : null
  if (front !== null) return exchange(c, front, needs)
  if (server !== null) throw new AppError('not_found', 'no such MCP server')
  if (c.req.method !== 'POST') return respond(c, emptyReply(405, { allow: 'POST' }))
  if (!caller.scopes.has('retrieve')) {
    throw new AppError('not_found', 'no MCP servers are configured')
  }
  return serveRetrieve(c, needs)
}

async function exchange(
  c: AppContext,
  front: HttpFront,
  { admission, maxBodyBytes }: McpNeeds,
): Promise<Response> {
  const state = c.get('state')
  const { tenant, keyId } = state.caller
  const answered = (body: Uint8Array | null) =>
    front.answer({
      method: c.req.method as HttpExchange['method'],
      body: body === null ? NOTHING : Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      header: name => c.req.header(name) ?? null,
      caller: { tenant, credential: keyId, ...projectTerm(c) },
      signal: goneSignal(c),
    })
  if (c.req.method !== 'POST') return respond(c, await answered(null))
  const announced = announcedLength(c, maxBodyBytes)
  // Held until there is an answer or a stream: a stream may last, and has bounds of its own.
  const ticket = admission.enter(state.caller, announced ?? 0)
  try {
    const body = await readBody(c, announced, maxBodyBytes, ticket)
    state.bodyBytes = body.length
    return respond(c, await answered(body))
  } finally {
    ticket.leave()
  }
}

const NOTHING = Buffer.alloc(0)

function respond(c: AppContext, { status, headers, body }: HttpReply): Response {
  if (body instanceof Uint8Array) c.get('state').answerBytes = body.length
  const all = { ...answerHeaders(c), ...headers }
  // Not copied: an answer may be large, and no buffer of ours is shared memory.
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream | null, {
    status,
    headers: all,
  })
}

/** Aborted when the client goes before its answer is out. */
function goneSignal(c: AppContext): AbortSignal {
  const outgoing = c.env?.outgoing
  if (outgoing === undefined) return c.req.raw.signal
  const gone = new AbortController()
  if (outgoing.destroyed) gone.abort()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  return gone.signal
}

/** Bytes of a call: its arguments name a hash and a part. */
const MAX_CALL_BYTES = 64 * 1024

interface RetrieveNeeds {
  readonly admission: Pick<Admission, 'enter'>
  readonly originals: ReadableOriginals
  /** What the model is told of packed results; absent: nothing. */
  readonly legend?: string
}

/** Answers a POST for an MCP server whose only tool is `haversack_retrieve`. */
async function serveRetrieve(
  c: AppContext,
  { admission, originals, legend }: RetrieveNeeds,
): Promise<Response> {
  const state = c.get('state')
  const announced = announcedLength(c, MAX_CALL_BYTES)
  const ticket = admission.enter(state.caller, announced ?? 0)
  try {
    const body = await readBody(c, announced, MAX_CALL_BYTES, ticket)
    state.bodyBytes = body.length
    const { status, body: answer } = await answerRetrievePost(
      Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      name => c.req.header(name),
      {
        originals,
        tenant: state.caller.tenant,
        version: VERSION,
        ...(legend === undefined ? {} : { legend }),
      },
    )
    const headers = answerHeaders(c)
    if (answer === null) return new Response(null, { status, headers })
    headers['content-type'] = 'application/json'
    state.answerBytes = answer.length
    return new Response(new Uint8Array(answer), { status, headers })
  } finally {
    ticket.leave()
  }
}
