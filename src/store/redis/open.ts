import type { RedisAddress } from '../../core/base/redis-address.ts'
import type { FailureReason, Store } from '../store.ts'
import { redisConnector, type TlsOptions } from './connection.ts'
import { DEFAULT_PREFIX } from './layout.ts'
import { readLibrary } from './library.ts'
import { RedisStore, type StoreSettings } from './redis-store.ts'
import { type Durability, RedisServer } from './server.ts'

export interface RedisStoreOptions extends StoreSettings {
  readonly address: RedisAddress
  readonly tls?: TlsOptions
  readonly durability?: Durability
  readonly callTimeoutMs?: number
  readonly waitMs?: number
  readonly breakerFailures?: number
  readonly probeMs?: number
  /** What was written in so many milliseconds is kept, to write it again after a failover. */
  readonly repairMs?: number
  /** Bytes of it at most. */
  readonly repairBytes?: number
  /** See `WatchOptions`. */
  readonly cluster?: string
  /** Seam for tests: see `WatchOptions`. */
  readonly silentMs?: number
  /** Called for each call: the function or command, its time, and why it failed. */
  onCall?(call: string, ms: number, failure: FailureReason | null): void
  /** Fails if the server cannot be used at the start, instead of going on without it. */
  readonly mustAnswer?: boolean
  /** How long the start waits for a server that can be used. */
  readonly startMs?: number
}

const MAX_CALLS = 4096
const MAX_BYTES_WAITING = 64 * 1024 * 1024
const CONNECT_MS = 2_000

/**
 * Opens a store in Redis or Valkey, which all replicas of the service share. Resolves when the
 * server can be used, or after `startMs`: then calls fail until it can.
 * @throws Error if it cannot be used in time and `mustAnswer`; the text has no secret
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const library = readLibrary()
  const server = new RedisServer({
    library,
    connect: redisConnector({
      address: options.address,
      ...(options.tls === undefined ? {} : { tls: options.tls }),
      timeoutMs: CONNECT_MS,
    }),
    durability: options.durability ?? 'primary',
    isSharded: options.address.kind === 'cluster',
    mayMove: options.address.kind !== 'standalone',
    callTimeoutMs: options.callTimeoutMs ?? 100,
    waitMs: options.waitMs ?? 100,
    breakerFailures: options.breakerFailures ?? 5,
    probeMs: options.probeMs ?? 500,
    silentMs: options.silentMs ?? 250,
    onEvent: options.onEvent,
    ...(options.onCall === undefined ? {} : { onCall: options.onCall }),
    maxCalls: MAX_CALLS,
    prefix: options.prefix ?? DEFAULT_PREFIX,
    ...(options.cluster === undefined ? {} : { cluster: options.cluster }),
    repairMs: options.repairMs ?? 10_000,
    repairBytes: options.repairBytes ?? 64 * 1024 * 1024,
    maxBytesWaiting: MAX_BYTES_WAITING,
  })
  const failure = await server.ready(options.startMs ?? CONNECT_MS)
  if (failure !== undefined && options.mustAnswer === true) {
    await server.close()
    throw new Error(failure.detail)
  }
  return new RedisStore(server, library, options)
}
