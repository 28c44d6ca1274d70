import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import type { HttpFront, McpCaller } from '../../../src/mcp/fronts/http-exchange.ts'

export interface FrontServer {
  readonly url: string
  close(): Promise<void>
}

/** The header by which a test says who it is; all others are one caller. */
export const CALLER_HEADER = 'x-test-caller'

/** Mounts a front on a server of its own, without keys. */
export async function serveFront(front: HttpFront): Promise<FrontServer> {
  const open = new Set<Promise<void>>()
  const server = createServer((request, response) => {
    const answered = answer(front, request, response).finally(() => open.delete(answered))
    open.add(answered)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await front.close()
      await Promise.all(open)
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function answer(
  front: HttpFront,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const foreign = foreignStatus(request)
  if (foreign !== null) return void response.writeHead(foreign).end()
  const body = await buffer(request).catch(() => null)
  if (body === null) return
  const reply = await front.answer({
    method: request.method as 'POST',
    body,
    header: name => {
      const value = request.headers[name]
      return value === undefined ? null : String(value)
    },
    caller: callerOf(request),
    signal: gone.signal,
  })
  response.writeHead(reply.status, reply.headers)
  if (!(reply.body instanceof ReadableStream)) return void response.end(reply.body)
  response.flushHeaders()
  await pipeline(Readable.fromWeb(reply.body as NodeStream), response).catch(() => {})
}

function callerOf({ headers }: IncomingMessage): McpCaller {
  const [tenant = 'local', credential = 'none'] = String(headers[CALLER_HEADER] ?? '').split('/')
  return { tenant: tenant || 'local', credential }
}

function foreignStatus({ headers, url }: IncomingMessage): number | null {
  const { host = '', origin } = headers
  const request = new Request(new URL(url ?? '/', 'http://127.0.0.1'), {
    headers: { host, ...(origin === undefined ? {} : { origin }) },
  })
  const refused =
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  return refused?.status ?? null
}
