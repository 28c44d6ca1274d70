import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { EMPTY_OBJECT, member, objectMember, textMember, withMember } from '../members.ts'
import type { ChildPlaces } from './child-places.ts'
import type { Clock } from './clock.ts'
import type {
  CallEnd,
  ConnectionListener,
  Era,
  ServerFacts,
  UpstreamCall,
  UpstreamConnection,
  UpstreamCounts,
} from './connection.ts'
import { META } from './envelope.ts'
import type { ClientClaims } from './options.ts'
import { type Branch, Trunk } from './trunk.ts'

/** A connection that nothing uses is closed after this time, in milliseconds. */
const IDLE_MS = 600_000
/** One that was not used for so long gives its place to another client. */
const YIELD_MS = 60_000
const SWEEP_MS = 30_000

/** For modern servers, whose calls state themselves what their client can. */
const MODERN = ''

export interface SharedConnectionsOptions {
  /** Whether the server is declared to keep nothing for a client. */
  readonly isStateless: boolean
  /** Which era the server is believed to be of. */
  era(): Era | undefined
  open(claims: ClientClaims, listener: ConnectionListener): UpstreamConnection
  readonly places: { readonly all: ChildPlaces; readonly owner: string } | null
  /**
   * Whether there are many clients: connections close that were not used for ten minutes, and
   * shared ones wait as long for the next client. Else they end with their only client.
   */
  readonly isService: boolean
  readonly clock: Clock
}

/**
 * The connections to one server with one credential: one for each client, or one for all if the
 * server is modern or declared stateless.
 */
export class SharedConnections {
  readonly #options: SharedConnectionsOptions
  readonly #trunks = new Set<Trunk>()
  /** By what its clients can; `MODERN` for any. */
  readonly #shared = new Map<string, Trunk>()
  /** Connects to a server of an unknown era; the next clients wait for what it finds. */
  #scout: Trunk | null = null
  #cancelSweep = () => {}
  #isRetired = false

  constructor(options: SharedConnectionsOptions) {
    this.#options = options
    if (options.isService) this.#sweepLater()
  }

  /** A client's own view of a connection. */
  connect(claims: ClientClaims, listener: ConnectionListener): UpstreamConnection {
    const client = new ClientConnection(claims, listener, this)
    client.join()
    return client
  }

  /** The connection for a client; a promise if it is not known yet which. */
  trunkFor(claims: ClientClaims): Trunk | Promise<Trunk> {
    const { isStateless } = this.#options
    const capabilities = claims.capabilities.toString('latin1')
    const known = this.#shared.get(MODERN) ?? this.#shared.get(capabilities)
    if (known !== undefined) return known
    if (isStateless || this.#options.era() === 'modern') {
      const trunk = this.#newTrunk(claims)
      this.#share(trunk, isStateless ? capabilities : MODERN)
      return trunk
    }
    const scout = this.#scout
    if (scout !== null) {
      return scout
        .facts()
        .then(facts => (facts === null ? this.#newTrunk(claims) : this.trunkFor(claims)))
    }
    const trunk = this.#newTrunk(claims)
    if (this.#options.era() === undefined) this.#watch(trunk)
    return trunk
  }

  /** A client has gone. */
  async left(trunk: Trunk): Promise<void> {
    const waits = trunk.isShared && this.#options.isService && !this.#isRetired
    if (trunk.branches.size === 0 && !waits) await this.#end(trunk)
  }

  /** Closes a connection that was not used lately, so that another one has its place. */
  async makePlace(): Promise<void> {
    let idlest: Trunk | undefined
    let idleMs = YIELD_MS
    for (const trunk of this.#trunks) {
      if (trunk.idleMs() < idleMs) continue
      idlest = trunk
      idleMs = trunk.idleMs()
    }
    await idlest?.sleep()
  }

  /** No more clients come: a connection ends with its last client. */
  retire(): void {
    this.#isRetired = true
    for (const trunk of [...this.#trunks]) void this.left(trunk)
  }

  async close(): Promise<void> {
    this.#isRetired = true
    this.#cancelSweep()
    await Promise.all([...this.#trunks].map(trunk => this.#end(trunk)))
  }

  #newTrunk(claims: ClientClaims): Trunk {
    const { clock, open, places } = this.#options
    const trunk: Trunk = new Trunk({
      claims,
      clock,
      open,
      places,
      onConnected: facts => this.#connected(trunk, facts),
    })
    this.#trunks.add(trunk)
    return trunk
  }

  #share(trunk: Trunk, key: string): void {
    trunk.isShared = true
    this.#shared.set(key, trunk)
  }

  #watch(trunk: Trunk): void {
    this.#scout = trunk
    // Not before it was opened by its client.
    queueMicrotask(() => {
      void trunk.facts().then(() => {
        if (this.#scout === trunk) this.#scout = null
      })
    })
  }

  #connected(trunk: Trunk, { era }: ServerFacts): void {
    if (era === 'modern' && !this.#shared.has(MODERN)) this.#share(trunk, MODERN)
    if (this.#scout === trunk) this.#scout = null
    if (era === 'modern' || this.#shared.get(MODERN) !== trunk) return
    // Its server was replaced by one that knows sessions: the others get connections of their own.
    this.#shared.delete(MODERN)
    trunk.isShared = this.#options.isStateless
    if (trunk.isShared) return
    for (const branch of [...trunk.branches].slice(1)) (branch as ClientConnection).join()
  }

  async #end(trunk: Trunk): Promise<void> {
    this.#trunks.delete(trunk)
    for (const [key, shared] of this.#shared) if (shared === trunk) this.#shared.delete(key)
    if (this.#scout === trunk) this.#scout = null
    await trunk.close()
  }

  #sweepLater(): void {
    this.#cancelSweep = this.#options.clock.after(SWEEP_MS, () => {
      for (const trunk of [...this.#trunks]) {
        if (trunk.idleMs() < IDLE_MS || trunk.isAwaited()) continue
        void (trunk.branches.size === 0 ? this.#end(trunk) : trunk.sleep())
      }
      if (!this.#isRetired || this.#trunks.size > 0) this.#sweepLater()
    })
  }
}

/** One client's part in a connection that it may share. */
class ClientConnection implements UpstreamConnection, Branch {
  readonly listener: ConnectionListener
  readonly subscribed = new Set<string>()
  readonly #claims: ClientClaims
  readonly #hub: SharedConnections
  #trunk: Trunk | null = null
  #joining: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(claims: ClientClaims, listener: ConnectionListener, hub: SharedConnections) {
    this.#claims = claims
    this.listener = listener
    this.#hub = hub
  }

  /** Goes to the connection that is right for it now. */
  join(): void {
    this.#trunk?.branches.delete(this)
    this.#trunk = null
    const trunk = this.#hub.trunkFor(this.#claims)
    if (trunk instanceof Trunk) this.#joined(trunk)
    else this.#joining = trunk.then(found => this.#joined(found))
  }

  async facts(): Promise<ServerFacts | null> {
    await this.#joining
    return (await this.#trunk?.facts()) ?? null
  }

  async call(call: UpstreamCall): Promise<CallEnd> {
    if (this.#trunk === null) await this.#joining
    const trunk = this.#trunk
    if (trunk === null) return { kind: 'down' }
    if (!trunk.wake()) await this.#hub.makePlace()
    const uri = SUBSCRIBING.test(call.method) && call.params && textMember(call.params, 'uri')
    if (typeof uri === 'string' && !this.#follows(call.method, uri, trunk)) return DONE
    return trunk.call(this.#stated(call, trunk))
  }

  notify(method: string, params: JsonBytes | null): void {
    this.#trunk?.notify(method, params)
  }

  counts(): UpstreamCounts {
    return this.#trunk?.counts() ?? { torn: 0, foreign: 0, reconnects: 0 }
  }

  lastErrors(): string {
    return this.#trunk?.lastErrors() ?? ''
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#joining
    const trunk = this.#trunk
    this.#trunk = null
    trunk?.branches.delete(this)
    if (trunk !== null) await this.#hub.left(trunk)
  }

  #joined(trunk: Trunk): void {
    if (this.#isClosed) {
      void this.#hub.left(trunk)
      return
    }
    this.#trunk = trunk
    trunk.branches.add(this)
    const { known } = trunk
    trunk.wake()
    // The client is not ready for it before it has this connection.
    if (known !== null) queueMicrotask(() => this.listener.onConnected(known))
  }

  /** Notes what the client follows. Returns whether the server has to know. */
  #follows(method: string, uri: string, trunk: Trunk): boolean {
    if (method === 'resources/subscribe') this.subscribed.add(uri)
    else this.subscribed.delete(uri)
    return this.subscribed.has(uri) || ![...trunk.branches].some(one => one.subscribed.has(uri))
  }

  /** The call with what this client can, if the connection states another one. */
  #stated(call: UpstreamCall, trunk: Trunk): UpstreamCall {
    const { capabilities, clientInfo } = this.#claims
    const isSame =
      capabilities.equals(trunk.claims.capabilities) && clientInfo.equals(trunk.claims.clientInfo)
    if (trunk.known?.era !== 'modern' || isSame) return call
    const params = call.params ?? EMPTY_OBJECT
    const meta = objectMember(params, '_meta') ?? EMPTY_OBJECT
    const capable = withDefault(meta, META.clientCapabilities, capabilities)
    const named = capable && withDefault(capable, META.clientInfo, clientInfo)
    const stated = named && withMember(params, '_meta', named)
    return stated ? { ...call, params: stated } : call
  }
}

const SUBSCRIBING = /^resources\/(?:un)?subscribe$/

const DONE: CallEnd = { kind: 'answered', outcome: { kind: 'result', result: EMPTY_OBJECT } }

function withDefault(object: JsonBytes, name: string, value: JsonBytes): JsonBytes | null {
  return member(object, name) === undefined ? withMember(object, name, value) : object
}
