import type { Hono, MiddlewareHandler } from 'hono'
import { AppError } from '../../core/base/errors.ts'
import { answerRetrievePost } from '../../mcp/retrieve-endpoint.ts'
import type { Admission } from '../../pool/admission.ts'
import { VERSION } from '../../runtime/version.ts'
import type { Originals } from '../../store/originals.ts'
import type { AppContext, AppEnv } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { announcedLength, readBody } from '../request/body.ts'
import type { Route } from './route.ts'

/** Bytes of a call: its arguments name a hash and a part. */
const MAX_CALL_BYTES = 64 * 1024

interface McpNeeds {
  readonly admission: Pick<Admission, 'enter'>
  readonly originals: Pick<Originals, 'fetch' | 'fetchPart'>
}

/** An MCP server with the tool `haversack_retrieve`, over Streamable HTTP. */
export const mcpRoute: Route<McpNeeds> = {
  method: 'post',
  path: '/mcp',
  summary: 'An MCP server with the tool haversack_retrieve (Streamable HTTP)',
  scope: 'retrieve',
  answer: { media: 'application/json' },
  mount: (app, needs) => app.post('/mcp', c => serve(c, needs)),
}

/**
 * The same below a path that is a secret.
 * @param below the secret, with a slash before it
 */
export function mountSecretMcp(
  app: Hono<AppEnv>,
  below: string,
  authorized: MiddlewareHandler<AppEnv>,
  needs: McpNeeds,
): void {
  app.use('/:secret/mcp', async (c, next) => {
    if (c.req.path !== `${below}/mcp`) return next()
    let response: Response | undefined
    await authorized(c, async () => {
      if (c.req.method !== 'POST') throw new AppError('method_not_allowed', 'use POST')
      response = await serve(c, needs)
    })
    return response
  })
}

async function serve(c: AppContext, { admission, originals }: McpNeeds): Promise<Response> {
  const state = c.get('state')
  const announced = announcedLength(c, MAX_CALL_BYTES)
  const ticket = admission.enter(state.caller, announced ?? 0)
  try {
    const body = await readBody(c, announced, MAX_CALL_BYTES, ticket)
    state.bodyBytes = body.length
    const { status, body: answer } = await answerRetrievePost(
      Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      name => c.req.header(name),
      { originals, tenant: state.caller.tenant, version: VERSION },
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
