import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Problem } from '../../core/base/errors.ts'
import { problemBody } from '../../core/contract/problem.ts'
import { problemResponse } from './problems.ts'

/**
 * What Node's parser refuses before there is a request, by its error code; anything else is a 400.
 */
const REFUSALS: Readonly<Record<string, { status: string; detail: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    detail: 'the headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    detail: 'the request did not arrive in time',
  },
}
/** The connection ended within a request. Mostly the answer of that request was sent already. */
const HUNG_UP = 'HPE_INVALID_EOF_STATE'
const EXPECTATION = { status: 417, detail: 'only 100-continue can be expected' }
const MALFORMED = { status: '400 Bad Request', detail: 'the request is not valid HTTP' }

/**
 * The answer to a request whose target or `Host` is no URL; it has no id, since it reached no app.
 */
export function malformed(): Response {
  const problem: Problem = { code: 'invalid_request', detail: 'the target or Host is not valid' }
  return problemResponse(problem, undefined, {})
}

/**
 * Answers requests that the parser refuses with problems, because Node's own answer has no body.
 * They never reach the app, so they have no request id. @param refused gets the status of each,
 * except for errors within a request that the app has already
 * @param answering the response that is on its way on a connection
 */
export function answerProtocolErrors(
  server: Server,
  refused: (status: number) => void,
  answering: (socket: Duplex) => ServerResponse | undefined,
): void {
  server.on('checkExpectation', (_, outgoing: ServerResponse) => {
    refused(EXPECTATION.status)
    const problem = problemBody({ code: 'invalid_request', detail: EXPECTATION.detail })
    outgoing.writeHead(EXPECTATION.status, { 'content-type': 'application/problem+json' })
    outgoing.end(JSON.stringify({ ...problem, status: EXPECTATION.status }))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const response = answering(socket)
    if (response?.req.complete === true) {
      // The error comes after a good request. The answer of that request must be sent first.
      response.once('close', () => socket.destroy())
      return
    }
    const { status, detail } = REFUSALS[error.code ?? ''] ?? MALFORMED
    const problem = problemBody({ code: 'invalid_request', detail })
    const code = Number.parseInt(status, 10)
    if (response === undefined && error.code !== HUNG_UP) refused(code)
    const body = JSON.stringify({ ...problem, status: code })
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: application/problem+json\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  })
}
