import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'

/** A server of HTTP+SSE (2024-11-05), by the official SDK. */
export interface SseServer {
  /** The URL of its stream. */
  readonly url: string
  readonly arrived: { readonly method: string; readonly headers: IncomingHttpHeaders }[]
  /** Open streams, by session. */
  readonly sessions: ReadonlyMap<string, SSEServerTransport>
  /** Answers the next posts with this status, as servers answer that have lost a session. */
  refuse(status: number, posts: number): void
  /** Cuts all streams. */
  cut(): void
  close(): Promise<void>
}

/**
 * @param register adds handlers to the server of one session
 * @param isHeld whether requests may pass; refused ones get 401
 */
export async function startSseServer(
  register: (server: Server) => void,
  isHeld: (headers: IncomingHttpHeaders) => boolean = () => true,
): Promise<SseServer> {
  const arrived: SseServer['arrived'] = []
  const sessions = new Map<string, SSEServerTransport>()
  const streams = new Set<ServerResponse>()
  const refusal = { status: 0, posts: 0 }
  const http = createServer((request, response) => {
    const { method = '', headers } = request
    arrived.push({ method, headers })
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
    const session = sessions.get(searchParams.get('sessionId') ?? '')
    if (!isHeld(headers)) response.writeHead(401).end()
    else if (pathname === '/sse' && method === 'GET') {
      const transport = new SSEServerTransport('/messages?tenant=a', response)
      const server = new Server({ name: 'old', version: '1' }, { capabilities: { tools: {} } })
      register(server)
      streams.add(response)
      sessions.set(transport.sessionId, transport)
      response.on('close', () => sessions.delete(transport.sessionId))
      void server.connect(transport)
    } else if (pathname === '/sse') response.writeHead(405, { allow: 'GET' }).end()
    else if (refusal.posts > 0) {
      refusal.posts--
      response.writeHead(refusal.status).end('no')
    } else if (session === undefined) response.writeHead(404).end('Session not found')
    else void session.handlePostMessage(request, response)
  })
  await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`,
    arrived,
    sessions,
    refuse: (status, posts) => Object.assign(refusal, { status, posts }),
    cut() {
      for (const stream of streams) stream.destroy()
      streams.clear()
    },
    close: () =>
      new Promise(resolve => {
        http.close(() => resolve())
        http.closeAllConnections()
      }),
  }
}
