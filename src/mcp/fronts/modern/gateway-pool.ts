import { createHash } from 'node:crypto'
import type { Gateway } from '../../gateway.ts'
import type { GatewayClient } from '../../gateway-options.ts'
import { errorOutcome, jsonBytes, RPC_ERRORS } from '../../json-rpc.ts'
import { textMember } from '../../members.ts'
import type { Clock } from '../../upstream/clock.ts'
import type { McpCaller } from '../http-exchange.ts'
import { ListenHub } from './listen-hub.ts'
import { seriousness } from './request-notices.ts'
import type { Envelope } from './request-rules.ts'

export interface PoolLimits {
  /** Gateways in all, and of one caller. */
  readonly gateways: number
  readonly gatewaysOfCaller: number
  /** How long a gateway without requests is kept, in milliseconds. */
  readonly idleMs: number
}

export const POOL_LIMITS: PoolLimits = { gateways: 64, gatewaysOfCaller: 8, idleMs: 600_000 }

export interface PoolNeeds {
  createGateway(client: GatewayClient, caller: McpCaller): Gateway
  /** Requests share no gateway with those of an earlier generation. */
  generation(): number
  readonly clock: Clock
  readonly limits: PoolLimits
}

/**
 * The gateways of clients that have no connection: requests of one caller with the same
 * capabilities and the same name share one.
 */
export class GatewayPool {
  readonly #needs: PoolNeeds
  /** The least recently used first. */
  readonly #pooled = new Map<string, PooledGateway>()
  readonly #closing = new Set<Promise<void>>()

  constructor(needs: PoolNeeds) {
    this.#needs = needs
  }

  /**
   * The gateway of a request, which must be held while it is used.
   * @returns `null` if there are too many, all in use
   */
  of(caller: McpCaller, envelope: Envelope): PooledGateway | null {
    const { tenant, credential } = caller
    const name = envelope.clientInfo && textMember(envelope.clientInfo, 'name')
    const owner = JSON.stringify([tenant, credential])
    const { createGateway, generation, clock, limits } = this.#needs
    const capabilities = envelope.capabilities.toString('latin1')
    const key = keyOf([owner, name ?? '', caller.project ?? '', capabilities, String(generation())])
    const known = this.#pooled.get(key)
    if (known !== undefined) {
      this.#pooled.delete(key)
      this.#pooled.set(key, known)
      return known
    }
    if (!this.#makeRoom(owner)) return null
    const pooled = new PooledGateway({
      owner,
      create: hub => createGateway(clientOf(envelope, name, hub), caller),
      clock,
      idleMs: limits.idleMs,
      onIdle: () => this.#remove(key),
    })
    this.#pooled.set(key, pooled)
    return pooled
  }

  /** Ends what has no end of its own: subscriptions. */
  drain(): void {
    for (const { hub } of this.#pooled.values()) hub.close()
  }

  async close(): Promise<void> {
    for (const key of [...this.#pooled.keys()]) this.#remove(key)
    await Promise.all(this.#closing)
  }

  #makeRoom(owner: string): boolean {
    const { gateways, gatewaysOfCaller } = this.#needs.limits
    const own = [...this.#pooled].filter(([, pooled]) => pooled.owner === owner)
    const crowd = own.length >= gatewaysOfCaller ? own : [...this.#pooled]
    if (own.length < gatewaysOfCaller && this.#pooled.size < gateways) return true
    const [key] = crowd.find(([, pooled]) => pooled.isIdle) ?? []
    if (key !== undefined) this.#remove(key)
    return key !== undefined
  }

  #remove(key: string): void {
    const pooled = this.#pooled.get(key)
    if (pooled === undefined) return
    this.#pooled.delete(key)
    const closed = pooled.close().finally(() => this.#closing.delete(closed))
    this.#closing.add(closed)
  }
}

interface PooledOptions {
  readonly owner: string
  create(hub: ListenHub): Gateway
  readonly clock: Clock
  readonly idleMs: number
  onIdle(): void
}

/** One gateway, and who uses it. */
export class PooledGateway {
  readonly owner: string
  readonly gateway: Gateway
  readonly hub: ListenHub
  readonly #options: PooledOptions
  #holds = 0
  #cancelIdle = () => {}
  /** The most talkative level that servers were told. */
  #level = Number.POSITIVE_INFINITY

  constructor(options: PooledOptions) {
    this.#options = options
    this.owner = options.owner
    this.hub = new ListenHub(() => this.gateway)
    this.gateway = options.create(this.hub)
  }

  get isIdle(): boolean {
    return this.#holds === 0
  }

  /** Keeps it until the returned function is called. */
  hold(): () => void {
    this.#holds++
    this.#cancelIdle()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      if (--this.#holds > 0) return
      const { clock, idleMs, onIdle } = this.#options
      this.#cancelIdle = clock.after(idleMs, onIdle)
    }
  }

  /** Lets servers of earlier revisions send logs of this level; they know one level for all. */
  async hear(logLevel: string | null, signal: AbortSignal): Promise<void> {
    const level = seriousness(logLevel)
    if (level === null || level >= this.#level) return
    this.#level = level
    await this.gateway.handle({
      method: 'logging/setLevel',
      params: jsonBytes({ level: logLevel }),
      signal,
      context: null,
      notify: () => {},
      ask: () => Promise.resolve(NOT_ASKED),
    })
  }

  close(): Promise<void> {
    this.#cancelIdle()
    this.hub.close()
    return this.gateway.close()
  }
}

function clientOf(envelope: Envelope, name: string | null, hub: ListenHub): GatewayClient {
  return {
    isModern: true,
    name,
    info: envelope.clientInfo,
    capabilities: envelope.capabilities,
    notify: (method, params) => hub.notify(method, params),
    ask: () => Promise.resolve(NOT_ASKED),
  }
}

const NOT_ASKED = errorOutcome(RPC_ERRORS.methodNotFound, 'this client is asked in its calls only')

function keyOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}
