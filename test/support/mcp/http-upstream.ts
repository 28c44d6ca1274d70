import {
  createServer,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** One request as it came. */
export interface Arrived {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The method of the message in the body. */
  readonly rpcMethod: string | undefined
  readonly id: unknown
  /** The connection was closed before the answer was complete. */
  isCut: boolean
}

export type Answer = (response: ServerResponse, arrived: Arrived) => unknown

export interface HttpUpstream {
  readonly url: string
  readonly arrived: Arrived[]
  /** What arrived with this method of HTTP, or of MCP. */
  of(method: string): Arrived[]
  close(): Promise<void>
}

/**
 * A server whose answers a test writes by hand.
 * @param tls key and certificate; absent: without TLS
 */
export async function startHttpUpstream(
  answer: Answer,
  port = 0,
  tls?: { readonly key: string; readonly cert: string },
): Promise<HttpUpstream> {
  const arrived: Arrived[] = []
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const body = Buffer.concat(parts).toString()
      const message = body === '' ? {} : JSON.parse(body)
      const one: Arrived = {
        method: request.method as string,
        path: request.url as string,
        headers: request.headers,
        body,
        rpcMethod: message.method,
        id: message.id,
        isCut: false,
      }
      arrived.push(one)
      response.on('close', () => {
        one.isCut = !response.writableFinished
      })
      answer(response, one)
    })
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const { port: used } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${used}/mcp`,
    arrived,
    of: name => arrived.filter(({ method, rpcMethod }) => method === name || rpcMethod === name),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function json(
  response: ServerResponse,
  body: string,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

/** The head of a stream, and its first bytes. */
export function stream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(text)
}

export function result(id: unknown, value: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${value}}`
}

export function rpcError(id: unknown, code: number, data = 'null'): string {
  const error = `{"code":${code},"message":"refused","data":${data}}`
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${error}}`
}

export function notification(method: string, params: string): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":${params}}`
}

export function event(message: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${message}\n\n`
}

const CAPABILITIES = '{"tools":{"listChanged":true}}'

/** The handshake and all that is no call of a legacy server with sessions; calls are the test's. */
export function legacyServer(call: Answer, capabilities = CAPABILITIES): Answer {
  let sessions = 0
  return (response, arrived) => {
    const { method, rpcMethod, id } = arrived
    if (rpcMethod === 'initialize') {
      const facts = `{"protocolVersion":"2025-11-25","capabilities":${capabilities}}`
      json(response, result(id, facts), 200, { 'mcp-session-id': `session-${++sessions}` })
    } else if (rpcMethod === 'server/discover') json(response, rpcError(id, -32_601), 400)
    else if (method === 'GET' && arrived.headers['last-event-id'] === undefined) {
      response.writeHead(405).end()
    } else if (method === 'DELETE') response.writeHead(200).end()
    else if (id === undefined && method === 'POST') response.writeHead(202).end()
    else call(response, arrived)
  }
}

/** The handshake of a modern server. Calls, and listening, are the test's. */
export function modernServer(call: Answer, capabilities = '{}'): Answer {
  return (response, arrived) => {
    if (arrived.rpcMethod !== 'server/discover') return call(response, arrived)
    const facts =
      `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${capabilities},` +
      '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"http"}}}'
    return json(response, result(arrived.id, facts))
  }
}
