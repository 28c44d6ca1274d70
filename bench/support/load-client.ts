/**
 * Requests and answers as bytes on raw sockets, for loads that must take as little of the shared
 * cores as they can.
 */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { summarizeTimes, type Times } from './statistics.ts'

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('content-length: ')
const LINE_END = 0x0d

export interface RequestPlan {
  readonly port: number
  readonly path: string
  readonly method: 'GET' | 'POST'
  /** A file of request bodies, a JSON text a line; none for GET. */
  readonly bodies?: string
  /** The key that requests are sent with. */
  readonly key?: string
}

/** The requests of a plan, ready to be written. */
export function requestsOf({ method, path, port, bodies, key }: RequestPlan): Buffer[] {
  const headers = key === undefined ? [] : [`authorization: Bearer ${key}`]
  if (bodies === undefined) {
    const head = [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, ...headers]
    return [Buffer.from(`${head.join('\r\n')}\r\n\r\n`)]
  }
  const lines = readFileSync(bodies, 'utf8').split('\n').filter(Boolean)
  return lines.map(line => postRequest(port, path, Buffer.from(line), headers))
}

/** A request with a JSON body. */
export function postRequest(
  port: number,
  path: string,
  body: Uint8Array,
  headers: readonly string[] = [],
): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    ...headers,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

export interface Answer {
  readonly status: number
  /** Whether the connection ends with it. */
  readonly last: boolean
  /** Head and body. */
  readonly bytes: Buffer
}

/** The answer at the head of `bytes`; `null` if it is not complete. */
function answerIn(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return null
  // Both spellings that Node's servers use.
  const at = Math.max(bytes.indexOf(LENGTH), bytes.indexOf('Content-Length: '))
  let length = 0
  for (let i = at + LENGTH.length; at !== -1 && bytes[i] !== LINE_END; i++) {
    length = length * 10 + (bytes[i] as number) - 0x30
  }
  if (bytes.length < headEnd + HEAD_END.length + length) return null
  const head = bytes.toString('latin1', 0, headEnd)
  return { status: Number(head.slice(9, 12)), last: /\nconnection: close/i.test(head), bytes }
}

/** A connection to a server on loopback that sends one request after the other. */
export class LoadClient {
  /** Rejects if there is no connection. */
  readonly connected: Promise<void>
  readonly closed: Promise<void>
  readonly #socket: Socket
  #buffered: Buffer = Buffer.alloc(0)
  #answered: ((answer: Answer) => void) | null = null
  #lost: ((error: Error) => void) | null = null

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.connected = new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve)
      this.#socket.once('error', reject)
    })
    this.connected.catch(() => {})
    this.closed = new Promise(resolve => this.#socket.once('close', () => resolve()))
    this.#socket.on('error', () => {})
    this.#socket.once('close', () => this.#lost?.(new Error('the connection ended')))
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  /** Sends a request; rejects if the connection ends without a whole answer. */
  ask(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) {
        reject(new Error('the connection has ended'))
        return
      }
      this.#answered = resolve
      this.#lost = reject
      this.#socket.write(request)
    })
  }

  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#buffered = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk])
    const answer = answerIn(this.#buffered)
    if (answer === null) return
    this.#buffered = Buffer.alloc(0)
    const resolve = this.#answered
    this.#answered = null
    this.#lost = null
    resolve?.(answer)
  }
}

export interface ClosedLoop {
  readonly port: number
  /** Servers besides that of `port`: each connection has one, or takes turns with all of them. */
  readonly otherPorts?: readonly number[]
  readonly takesTurns?: boolean
  readonly connections: number
  readonly seconds: number
  /** Pause before each request of a connection but its first, in milliseconds. */
  readonly pauseMs?: number
  /** The next request of a connection. */
  request(connection: number): Buffer
  onAnswer?(answer: Answer): void
}

export interface LoadResult extends Omit<Times, 'count'> {
  readonly requests: number
  /** Answers other than 200, and connections that ended early. */
  readonly errors: number
  readonly per_second: number
}

/** Connections that each send a request when the one before is answered. */
export async function runClosedLoop(loop: ClosedLoop): Promise<LoadResult> {
  const latencies: number[] = []
  let errors = 0
  const started = performance.now()
  const deadline = started + loop.seconds * 1000

  async function occupy(connection: number): Promise<void> {
    const ports = [loop.port, ...(loop.otherPorts ?? [])]
    const own = loop.takesTurns === true ? ports : [ports[connection % ports.length]!]
    const clients = own.map(port => new LoadClient(port))
    for (const client of clients) await client.connected
    let next = connection
    for (let sentAt = performance.now(); sentAt < deadline; sentAt = performance.now()) {
      const client = clients[next++ % clients.length]!
      const answer = await client.ask(loop.request(connection)).catch(() => null)
      if (answer === null) {
        if (performance.now() < deadline) errors++
        return
      }
      latencies.push(performance.now() - sentAt)
      if (answer.status !== 200) errors++
      loop.onAnswer?.(answer)
      if (loop.pauseMs !== undefined) {
        await new Promise(resolve => setTimeout(resolve, loop.pauseMs))
      }
    }
    for (const client of clients) client.destroy()
  }

  await Promise.all(Array.from({ length: loop.connections }, (_, at) => occupy(at)))
  const seconds = (performance.now() - started) / 1000
  const { count, ...times } = summarizeTimes(latencies)
  return { requests: count, errors, per_second: count / seconds, ...times }
}
