import { createClient, createCluster, RESP_TYPES } from '@redis/client'
import { Decoder } from '@redis/client/dist/lib/RESP/decoder.js'
import type { RedisAddress, RedisNode } from '../../core/base/redis-address.ts'
import { ReplyMeter, ReplyTooLarge } from './reply-meter.ts'
import { Sentinels } from './sentinels.ts'

/**
 * Makes the decoder of the Redis client refuse a reply that is too large: it keeps whatever comes
 * until a reply ends, makes room for as many values as a server announces, and has no limit of its
 * own. What it throws ends the connection. The client makes its decoder itself, so that only the
 * class can be changed; all connections of a process have the same bounds.
 */
function boundReplies(): void {
  if (isBounded) return
  isBounded = true
  const { write, reset } = Decoder.prototype
  const meters = new WeakMap<Decoder, ReplyMeter>()
  Decoder.prototype.write = function (chunk: Uint8Array) {
    let meter = meters.get(this)
    if (meter === undefined) {
      meter = new ReplyMeter()
      meters.set(this, meter)
    }
    meter.add(chunk)
    write.call(this, chunk)
  }
  Decoder.prototype.reset = function () {
    meters.delete(this)
    reset.call(this)
  }
}

let isBounded = false

export type Argument = string | Uint8Array

/** One connection, or those to a cluster's nodes. Commands are sent in the order of the calls. */
export interface Connection {
  /**
   * Sends a command to the server that has `key`. Strings of the answer are buffers. Rejects with
   * the server's error or the connection's. @param key of a cluster's slot
   */
  send(key: string, args: readonly Argument[]): Promise<unknown>
  /** Whether another server may have become the primary, and no Sentinel can be asked. */
  readonly isBlind?: boolean
  /** Sends a command to every primary. */
  sendAll(args: readonly Argument[]): Promise<readonly unknown[]>
  close(): void
}

export interface ConnectOptions {
  readonly address: RedisAddress
  readonly tls?: TlsOptions
  readonly timeoutMs: number
  /** Called once, when the connection ends by itself. */
  onEnd(error: Error): void
}

export interface TlsOptions {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** RESP 2 is what every server and every managed proxy speaks. */
const COMMON = {
  RESP: 2,
  disableOfflineQueue: true,
  disableClientInfo: true,
  maintNotifications: 'disabled',
} as const
const COMMAND_OPTIONS = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } }

/**
 * Returns a function that connects. It rejects if no server can be reached or logged in to, or if
 * the Sentinels do not agree on the primary.
 */
export function redisConnector(
  common: Omit<ConnectOptions, 'onEnd'>,
): (onEnd: ConnectOptions['onEnd']) => Promise<Connection> {
  boundReplies()
  const { address } = common
  const { kind, nodes, primaryName = '' } = address
  if (kind === 'cluster') return onEnd => connectCluster({ ...common, onEnd })
  if (kind === 'standalone') return onEnd => connectNode(nodes[0]!, { ...common, onEnd })
  const own = { ...common, address: { ...address, database: 0 } }
  const sentinels = new Sentinels({
    nodes,
    primaryName,
    connect: (node, onEnd) => connectNode(node, { ...own, onEnd }),
  })
  return onEnd => connectPrimary(sentinels, { ...common, onEnd })
}

async function connectNode(node: RedisNode, options: ConnectOptions): Promise<Connection> {
  const client = createClient({
    ...COMMON,
    ...loginOf(options.address),
    database: options.address.database,
    socket: { ...socketOf(options), ...node, reconnectStrategy: false },
    commandOptions: COMMAND_OPTIONS,
  })
  let hasEnded = false
  const end = (error: Error) => {
    if (hasEnded) return
    hasEnded = true
    client.destroy()
    options.onEnd(error)
  }
  const connecting = Promise.withResolvers<never>()
  client.on('error', (error: Error) => connecting.reject(error))
  connecting.promise.catch(() => {})
  try {
    await Promise.race([client.connect(), connecting.promise])
  } catch (error) {
    if (client.isOpen) client.destroy()
    throw error
  }
  client.on('error', end)
  client.on('end', () => end(new Error('Socket closed')))
  return {
    send: (_key, args) => client.sendCommand(toArguments(args)),
    sendAll: async args => [await client.sendCommand(toArguments(args))],
    close() {
      hasEnded = true
      if (client.isOpen) client.destroy()
    },
  }
}

/** The cluster's client finds its nodes and connects again by itself. */
async function connectCluster(options: ConnectOptions): Promise<Connection> {
  const { address } = options
  const cluster = createCluster({
    RESP: COMMON.RESP,
    rootNodes: address.nodes.map(({ host, port }) => ({ socket: { host, port } })),
    defaults: { ...COMMON, ...loginOf(address), socket: socketOf(options) },
    commandOptions: COMMAND_OPTIONS,
  })
  // Other errors of single nodes are seen by the calls that they fail.
  let hasEnded = false
  const end = (error: Error) => {
    if (!(error instanceof ReplyTooLarge) || hasEnded) return
    hasEnded = true
    cluster.destroy()
    options.onEnd(error)
  }
  cluster.on('error', end)
  cluster.on('node-error', end)
  await cluster.connect()
  return {
    send: (key, args) => cluster.sendCommand(key, false, toArguments(args)),
    sendAll: args =>
      Promise.all(
        cluster.masters.map(async node =>
          (await cluster.nodeClient(node)).sendCommand(toArguments(args)),
        ),
      ),
    close() {
      if (!hasEnded) cluster.destroy()
      hasEnded = true
    },
  }
}

/** Connects to the primary that the Sentinels name, for as long as they do. */
async function connectPrimary(sentinels: Sentinels, options: ConnectOptions): Promise<Connection> {
  let stop = () => {}
  const end = () => {
    stop()
    sentinels.close()
  }
  try {
    const node = await sentinels.primary()
    const onEnd = (error: Error) => {
      end()
      options.onEnd(error)
    }
    const connection = await connectNode(node, { ...options, onEnd })
    const close = () => {
      end()
      connection.close()
    }
    stop = sentinels.watch(node, error => {
      close()
      options.onEnd(error)
    })
    return {
      ...connection,
      close,
      get isBlind() {
        return sentinels.isBlind
      },
    }
  } catch (error) {
    end()
    throw error
  }
}

function loginOf({ username, password }: RedisAddress) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  }
}

function socketOf({ address, tls, timeoutMs }: ConnectOptions) {
  const common = { connectTimeout: timeoutMs, noDelay: true, keepAlive: true }
  return address.isTls ? { ...common, ...tls, tls: true as const } : common
}

function toArguments(args: readonly Argument[]): (string | Buffer)[] {
  return args.map(each =>
    typeof each === 'string' ? each : Buffer.from(each.buffer, each.byteOffset, each.byteLength),
  )
}
