import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer,
  type Server as NetServer,
  type Socket,
} from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { VendorName } from '../../../src/core/dialects/lookup.ts'
import type { Exchange, ForwardOptions } from '../../../src/proxy/exchange.ts'
import { createForwarder, type Forwarder } from '../../../src/proxy/forwarder.ts'
import { pathAfter } from '../../../src/proxy/target.ts'
import { wantsUpgrade } from '../../../src/proxy/tunnel.ts'
import type { ForwardLimits, ProxyEnvironment } from '../../../src/proxy/upstream.ts'

/** Far beyond what a test takes, however busy the machine is. */
const AMPLE_MS = 3_600_000
const AMPLE: ForwardLimits = {
  connect_ms: AMPLE_MS,
  headers_ms: AMPLE_MS,
  idle_ms: AMPLE_MS,
  total_ms: AMPLE_MS,
}

/** A connection with what came over it. */
export class Wire {
  readonly socket: Socket
  readonly #chunks: Buffer[] = []
  #text = ''
  #waiting: (() => void)[] = []
  closed = false
  error: string | null = null

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk)
      this.#wake()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? 'error'
    })
    socket.on('close', () => {
      this.closed = true
      this.#wake()
    })
  }

  /** All that came, one character a byte. */
  get text(): string {
    if (this.#chunks.length > 0) {
      this.#text += Buffer.concat(this.#chunks.splice(0)).toString('latin1')
    }
    return this.#text
  }

  /** Everything so far, once `part` has come; throws when the connection closes without it. */
  async until(part: string): Promise<string> {
    let searched = 0
    while (!this.text.includes(part, searched)) {
      searched = Math.max(0, this.text.length - part.length)
      await this.more(part)
    }
    return this.text
  }

  /** Waits for what comes next; throws when the connection closes without it. */
  async more(awaited = 'more'): Promise<void> {
    if (this.closed) throw new Error(`closed without ${awaited}: ${this.text.slice(-500)}`)
    await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  /** Everything, once the connection is closed. */
  async all(): Promise<string> {
    while (!this.closed) await new Promise<void>(resolve => this.#waiting.push(resolve))
    return this.text
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

/** An upstream that gets connections as they are; `next` waits for one. */
export interface RawUpstream {
  readonly url: URL
  readonly connections: readonly Wire[]
  next(): Promise<Wire>
  /** Gives up all waiting of `next`. */
  forget(): void
}

export async function rawUpstream(): Promise<RawUpstream> {
  const connections: Wire[] = []
  const waiting: ((wire: Wire) => void)[] = []
  const unclaimed: Wire[] = []
  const server = createServer(socket => {
    const wire = new Wire(socket)
    connections.push(wire)
    const taker = waiting.shift()
    if (taker === undefined) unclaimed.push(wire)
    else taker(wire)
  })
  const url = await listen(server)
  return {
    url,
    connections,
    forget() {
      waiting.length = 0
    },
    next() {
      const wire = unclaimed.shift()
      return wire === undefined
        ? new Promise(resolve => waiting.push(resolve))
        : Promise.resolve(wire)
    },
  }
}

/** An upstream on Node's own server. */
export async function httpUpstream(listener: RequestListener): Promise<URL> {
  return await listen(createHttpServer(listener))
}

export interface FrontOptions {
  readonly base: URL
  readonly vendor?: VendorName
  readonly limits?: Partial<ForwardLimits>
  readonly env?: ProxyEnvironment
  /** Read and sent whole, instead of as it comes. */
  readonly whole?: boolean
  readonly options?: Partial<ForwardOptions>
  readonly shouldUpgrade?: (incoming: IncomingMessage) => boolean
  /** Sees both streams before they are forwarded. */
  readonly seen?: (incoming: IncomingMessage, outgoing: ServerResponse) => Partial<ForwardOptions>
}

/** A plain HTTP server that forwards what is under `/api`. */
export interface Front {
  readonly url: URL
  readonly forwarder: Forwarder
  readonly server: Server
  /** What became of the requests, in the order in which they came. */
  readonly exchanges: readonly Promise<Exchange>[]
  /** What handlers threw. */
  readonly bugs: readonly unknown[]
}

export async function front(options: FrontOptions): Promise<Front> {
  const bugs: unknown[] = []
  const forwarder = createForwarder({
    base: options.base,
    vendor: options.vendor ?? 'anthropic',
    limits: { ...AMPLE, ...options.limits },
    env: options.env ?? {},
    onBug: error => bugs.push(error),
  })
  const exchanges: Promise<Exchange>[] = []
  const pathOf = (target = '') => pathAfter(target, '/api') ?? target
  const shouldUpgradeCallback = options.shouldUpgrade ?? wantsUpgrade
  const server = createHttpServer({ shouldUpgradeCallback, keepAliveTimeout: 0 })
  const forward =
    (awaitsContinue: boolean): RequestListener =>
    async (incoming, outgoing) => {
      const rest: Partial<ForwardOptions> = options.whole
        ? { body: await buffer(incoming) }
        : { awaitsContinue }
      const path = pathOf(incoming.url)
      Object.assign(rest, options.seen?.(incoming, outgoing))
      exchanges.push(forwarder.forward(incoming, outgoing, { path, ...rest, ...options.options }))
    }
  server.on('request', forward(false))
  server.on('checkContinue', forward(true))
  server.on('upgrade', (incoming, _, head) => {
    exchanges.push(forwarder.upgrade(incoming, head, { path: pathOf(incoming.url) }))
  })
  const url = await listen(server)
  onTestFinished(() => forwarder.close())
  return { url, forwarder, server, exchanges, bugs }
}

/** Opens a connection and sends bytes, one character a byte. */
export function dial(url: URL, bytes = ''): Wire {
  const socket = connect(Number(url.port), url.hostname)
  const wire = new Wire(socket)
  if (bytes !== '') socket.write(bytes, 'latin1')
  onTestFinished(() => void socket.destroy())
  return wire
}

/** Lines as a head, with the body behind it. */
export function message(lines: readonly string[], body = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

export async function listen(server: NetServer, scheme = 'http'): Promise<URL> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`)
}
