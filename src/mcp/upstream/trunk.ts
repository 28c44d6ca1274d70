import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { errorOutcome, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import { textMember } from '../members.ts'
import type { ChildPlaces } from './child-places.ts'
import type { Clock } from './clock.ts'
import type {
  CallEnd,
  ConnectionListener,
  ServerFacts,
  UpstreamCall,
  UpstreamConnection,
  UpstreamCounts,
} from './connection.ts'
import type { ClientClaims } from './options.ts'

/** One client on a trunk. */
export interface Branch {
  readonly listener: ConnectionListener
  /** Resources that it subscribed to. */
  readonly subscribed: ReadonlySet<string>
}

export interface TrunkOptions {
  readonly claims: ClientClaims
  readonly clock: Clock
  open(claims: ClientClaims, listener: ConnectionListener): UpstreamConnection
  /** Counts its process; `null` if it has none. */
  readonly places: { readonly all: ChildPlaces; readonly owner: string } | null
  /** Called before its clients are. */
  onConnected(facts: ServerFacts): void
}

/** One connection to a server with the clients on it. It can sleep: a call opens it again. */
export class Trunk {
  readonly claims: ClientClaims
  readonly branches = new Set<Branch>()
  /** Whether any client may join. */
  isShared = false
  #facts: ServerFacts | null = null
  readonly #options: TrunkOptions
  readonly #lists: ListMemory
  #connection: UpstreamConnection | null = null
  #ending: Promise<void> = Promise.resolve()
  #running = 0
  #usedAt: number
  #isClosed = false

  constructor(options: TrunkOptions) {
    this.#options = options
    this.claims = options.claims
    this.#lists = new ListMemory(options.clock)
    this.#usedAt = options.clock.now()
  }

  /** What the server stated when it was connected last; `null` before. */
  get known(): ServerFacts | null {
    return this.#facts
  }

  /** How long it was not used; 0 while it is, or sleeps. */
  idleMs(): number {
    const isHeld = [...this.branches].some(({ subscribed }) => subscribed.size > 0)
    if (this.#running > 0 || isHeld || this.#connection === null) return 0
    return this.#options.clock.now() - this.#usedAt
  }

  /** Whether it holds a server's state for a client that is still there. */
  isAwaited(): boolean {
    return !this.isShared && [...this.branches].some(({ listener }) => listener.isListening?.())
  }

  /** Opens the connection if it is not open. Returns `false` if it has no place. */
  wake(): boolean {
    if (this.#connection !== null) return true
    const { claims, places, open } = this.#options
    if (this.#isClosed || places?.all.take(places.owner) === false) return false
    this.#usedAt = this.#options.clock.now()
    this.#connection = open(claims, this.#listener)
    return true
  }

  async facts(): Promise<ServerFacts | null> {
    return this.#connection === null ? this.#facts : this.#connection.facts()
  }

  async call(call: UpstreamCall): Promise<CallEnd> {
    if (!this.wake()) return { kind: 'full' }
    const connection = this.#connection as UpstreamConnection
    this.#running++
    try {
      if (!this.isShared || !this.#lists.isList(call.method)) return await connection.call(call)
      // For no client in particular: one that goes away takes nothing from the others.
      const shared = { ...call, signal: NEVER, notify: () => {}, ask: refuse }
      const { method, params } = call
      return await this.#lists.get(method, params, () => connection.call(shared))
    } finally {
      this.#running--
      this.#usedAt = this.#options.clock.now()
    }
  }

  notify(method: string, params: JsonBytes | null): void {
    this.#connection?.notify(method, params)
  }

  counts(): UpstreamCounts {
    return this.#connection?.counts() ?? { torn: 0, foreign: 0, reconnects: 0 }
  }

  lastErrors(): string {
    return this.#connection?.lastErrors() ?? ''
  }

  /** Closes the connection until it is used again. Resolves once nothing of it is left. */
  async sleep(): Promise<void> {
    const connection = this.#connection
    this.#connection = null
    if (connection === null) return this.#ending
    const { places } = this.#options
    this.#ending = connection.close().finally(() => places?.all.leave(places.owner))
    await this.#ending
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.sleep()
  }

  readonly #listener: ConnectionListener = {
    onNotification: (method, params) => {
      this.#lists.outdate(method)
      const uri =
        method === UPDATED && params !== null && this.branches.size > 1
          ? textMember(params, 'uri')
          : null
      for (const { listener, subscribed } of [...this.branches]) {
        if (uri === null || subscribed.has(uri)) listener.onNotification(method, params)
      }
    },
    onRequest: (method, params, signal) => {
      const [only, another] = this.branches
      // Nothing says which of several clients is meant.
      if (only === undefined || another !== undefined) return refuse()
      return only.listener.onRequest(method, params, signal)
    },
    onConnected: facts => {
      this.#facts = facts
      this.#lists.clear()
      this.#options.onConnected(facts)
      for (const { listener } of [...this.branches]) listener.onConnected(facts)
    },
    onLost: () => {
      for (const { listener } of [...this.branches]) listener.onLost()
    },
  }
}

const UPDATED = 'notifications/resources/updated'

const NEVER = new AbortController().signal

const refuse = () =>
  Promise.resolve(errorOutcome(RPC_ERRORS.methodNotFound, 'no client can be asked here'))

/** Servers that report no changes are asked again after this time, in milliseconds. */
const MOST_AGE_MS = 60_000

/** The requests for lists, and which notification outdates each. */
const OUTDATED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'notifications/tools/list_changed'],
  ['prompts/list', 'notifications/prompts/list_changed'],
  ['resources/list', 'notifications/resources/list_changed'],
  ['resources/templates/list', 'notifications/resources/list_changed'],
])

/** Bytes of all pages of one connection, with the requests for them. */
const MAX_BYTES = 16 * 1024 * 1024
/** What a page takes beside its bytes. */
const PAGE_BYTES = 1_000

interface KeptList {
  readonly method: string
  bytes: number
  readonly until: number
  readonly end: Promise<CallEnd>
}

/** Pages of lists that one connection has read, for all clients that share it. */
export class ListMemory {
  readonly #clock: Clock
  readonly #maxBytes: number
  /** By request, the oldest first. */
  readonly #kept = new Map<string, KeptList>()
  #bytes = 0

  constructor(clock: Clock, maxBytes = MAX_BYTES) {
    this.#clock = clock
    this.#maxBytes = maxBytes
  }

  /** What is kept, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  isList(method: string): boolean {
    return OUTDATED_BY.has(method)
  }

  /** The answer in memory, or one that is read now. */
  get(method: string, params: JsonBytes | null, read: () => Promise<CallEnd>): Promise<CallEnd> {
    const key = `${method} ${params?.toString('latin1') ?? ''}`
    const known = this.#kept.get(key)
    if (known !== undefined && this.#clock.now() < known.until) return known.end
    this.#forget(key)
    const end = read()
    const bytes = key.length + PAGE_BYTES
    const kept: KeptList = { method, bytes, until: this.#clock.now() + MOST_AGE_MS, end }
    this.#kept.set(key, kept)
    this.#bytes += bytes
    this.#makeRoom()
    void end.then(answer => {
      if (this.#kept.get(key) !== kept) return
      if (answer.kind !== 'answered') return this.#forget(key)
      const more = heldBy(answer.outcome)
      kept.bytes += more
      this.#bytes += more
      this.#makeRoom()
    })
    return end
  }

  #makeRoom(): void {
    for (const key of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.#forget(key)
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }

  /** @param method of a notification */
  outdate(method: string): void {
    for (const [key, kept] of this.#kept) {
      if (OUTDATED_BY.get(kept.method) === method) this.#forget(key)
    }
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
  }
}

/** Bytes that an answer keeps: those of the whole message, of which it is a part. */
function heldBy(outcome: Outcome): number {
  return (outcome.kind === 'result' ? outcome.result : outcome.error).buffer.byteLength
}
