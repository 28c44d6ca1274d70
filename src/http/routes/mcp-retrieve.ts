import { answerRetrievePost } from '../../mcp/results/retrieve-endpoint.ts'
import type { Admission } from '../../pool/admission.ts'
import { VERSION } from '../../runtime/version.ts'
import type { ReadableOriginals } from '../../store/originals.ts'
import type { AppContext } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { announcedLength, readBody } from '../request/body.ts'

/** Bytes of a call: its arguments name a hash and a part. */
const MAX_CALL_BYTES = 64 * 1024

export interface RetrieveNeeds {
  readonly admission: Pick<Admission, 'enter'>
  readonly originals: ReadableOriginals
  /** What the model is told of packed results; absent: nothing. */
  readonly legend?: string
}

/** Answers a POST for an MCP server whose only tool is `haversack_retrieve`. */
export async function serveRetrieve(
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
