import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { type ClientOptions, WebSocket, WebSocketServer } from 'ws'

/** A message as it came. */
export interface Came {
  readonly bytes: Buffer
  readonly isBinary: boolean
}

/** One connection at the upstream. */
export interface UpstreamSocket {
  readonly socket: WebSocket
  readonly handshake: IncomingMessage
  readonly came: readonly Came[]
}

/** An upstream with WebSockets as OpenAI has them, for all tests of a file. */
export interface ResponsesUpstream {
  readonly url: string
  readonly sockets: readonly UpstreamSocket[]
  /** The bodies of requests over HTTP. */
  readonly posted: readonly string[]
  /** What is done with the next messages; by default a response is made of each request. */
  answerWith(answer: (socket: WebSocket, came: Came) => void): void
  /** Answers the next handshakes by these bytes. */
  shakeWith(bytes: string | null): void
  close(): Promise<void>
}

const USAGE = {
  input_tokens: 1_000,
  output_tokens: 20,
  input_tokens_details: { cached_tokens: 600 },
}

/** The events of a response, the last one first cut in two fragments. */
function respond(socket: WebSocket, id: string): void {
  const event = (type: string, response: object) =>
    JSON.stringify({ type, response: { id, model: 'gpt-5', ...response } })
  socket.send(event('response.created', { usage: null }))
  socket.send('{"type":"response.output_text.delta","delta":"caf\u00e9 \\u00e9"}')
  const last = event('response.completed', { usage: USAGE })
  socket.send(last.slice(0, 30), { fin: false })
  socket.send(last.slice(30), { fin: true })
}

export async function responsesUpstream(): Promise<ResponsesUpstream> {
  const sockets: UpstreamSocket[] = []
  const posted: string[] = []
  const http = createServer(async (incoming, response) => {
    posted.push(await text(incoming))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  const open = new Set<Socket>()
  http.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => open.delete(socket))
  })
  // It would compress, if a client wants that.
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: { threshold: 0 } })
  let shaken: string | null = null
  let count = 0
  const answerAll = (socket: WebSocket, { bytes, isBinary }: Came) => {
    if (!isBinary && bytes.includes('response.create')) respond(socket, `resp_${count++}`)
  }
  let answer = answerAll
  http.on('upgrade', (handshake, stream, head) => {
    if (shaken !== null) return void stream.end(shaken)
    server.handleUpgrade(handshake, stream, head, socket => {
      const came: Came[] = []
      sockets.push({ socket, handshake, came })
      socket.on('error', () => undefined)
      socket.on('message', (bytes: Buffer, isBinary) => {
        came.push({ bytes, isBinary })
        answer(socket, { bytes, isBinary })
      })
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    sockets,
    posted,
    answerWith(next) {
      answer = next
      onTestFinished(() => {
        answer = answerAll
      })
    },
    shakeWith(bytes) {
      shaken = bytes
      onTestFinished(() => {
        shaken = null
      })
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise(resolve => http.close(resolve))
    },
  }
}

/** A client with the messages that it got. */
export interface Client {
  readonly socket: WebSocket
  readonly got: readonly Came[]
  /** The code and reason with which it was closed. */
  readonly closed: Promise<readonly [number, string]>
  send(message: string | Uint8Array): void
  /** Resolves when so many messages have come. */
  until(count: number): Promise<readonly Came[]>
}

export async function openClient(url: string, options: ClientOptions = {}): Promise<Client> {
  const socket = new WebSocket(url.replace('http', 'ws'), options)
  const got: Came[] = []
  const waiting: (() => void)[] = []
  const closed = Promise.withResolvers<readonly [number, string]>()
  socket.on('message', (bytes: Buffer, isBinary) => {
    got.push({ bytes, isBinary })
    for (const wake of waiting.splice(0)) wake()
  })
  socket.on('close', (code, reason) => closed.resolve([code, reason.toString()]))
  const failed = new Promise((_, reject) => socket.on('error', reject))
  failed.catch(() => undefined)
  onTestFinished(() => socket.terminate())
  await Promise.race([once(socket, 'open'), failed])
  return {
    socket,
    got,
    closed: closed.promise,
    send: message => socket.send(message),
    async until(count) {
      while (got.length < count) {
        const more = new Promise<void>(resolve => waiting.push(resolve))
        const end = await Promise.race([more, closed.promise])
        if (end !== undefined && got.length < count) throw new Error(`closed: ${end}`)
      }
      return got
    },
  }
}
