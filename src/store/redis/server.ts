import type { Failure, FailureReason, Result } from '../store.ts'
import type { StoreEvent } from '../values/store-event.ts'
import { CallQueue, type CallQueueOptions } from './call-queue.ts'
import type { Argument, Connection } from './connection.ts'
import type { Contact } from './contact.ts'
import {
  CLOSED,
  EVICTING,
  FORGETFUL,
  failureOf,
  isAway,
  isLastingRefusal,
  NOT_DURABLE,
  OVERLOADED,
  TOO_LATE,
  UNREACHABLE,
} from './failures.ts'
import { FunctionCalls, type SendOptions } from './function-calls.ts'
import { GroupedWaits } from './grouped-waits.ts'
import { ADDING, type FunctionName } from './library.ts'
import type { RecentWrite } from './recent-writes.ts'
import type { Repair } from './repair.ts'
import { MISSING, type Reply, sendInTime } from './send.ts'
import { ServerWatch, type WatchOptions } from './server-watch.ts'

/** When a write counts as done: on the primary, on a replica too, or on the primary's disk. */
export type Durability = 'primary' | 'replica' | 'disk'

export type ServerEvent = Extract<
  StoreEvent,
  { readonly kind: 'unreachable' | 'reachable' | 'wrong_policy' | 'other_server' }
>

export interface ServerOptions extends CallQueueOptions, WatchOptions {
  /** Called for each call: the function or command, its time, and why it failed. */
  onCall?(call: string, ms: number, failure: FailureReason | null): void
  connect(onEnd: (error: Error) => void): Promise<Connection>
  readonly durability: Durability
  /** Whether tenants are on several nodes, so that each needs a wait of its own. */
  readonly isSharded: boolean
  /** Whether another server may take its place, as with Sentinels and in a cluster. */
  readonly mayMove: boolean
  /** How long a write may wait for a replica or the disk. */
  readonly waitMs: number
  /** Failures in a row after which calls fail at once. */
  readonly breakerFailures: number
  onEvent(event: ServerEvent): void
}

/** How often a server that answers is asked what it is. */
const WATCH_MS = 100

/** Redis as the store uses it: functions with a deadline each, behind a breaker. */
export class RedisServer {
  readonly #options: ServerOptions
  readonly #queue: CallQueue
  readonly #watching: ServerWatch
  #connection: Connection | null = null
  #number = 0
  #failures = 0
  /** Whether calls may be sent. */
  #isOpen = false
  #isClosed = false
  #awaySince = performance.now()
  #lastFailure: Failure = UNREACHABLE
  #timer: NodeJS.Timeout | undefined
  #onReady: (value: true) => void = () => {}
  /** Whether the operator knows that the server is away. */
  #isAnnounced = false
  readonly #functions: FunctionCalls
  readonly #waits = new GroupedWaits(key => this.#wait(key))

  constructor(options: ServerOptions) {
    this.#options = options
    this.#queue = new CallQueue(options)
    this.#watching = new ServerWatch(options)
    this.#functions = new FunctionCalls({
      ...options,
      send: (key, args, call) => this.#guarded(key, args, call),
    })
    void this.#watch()
  }

  /** The number of the connection; another one may be to another server. */
  get connection(): number {
    return this.#number
  }

  get isAvailable(): boolean {
    return this.#isOpen && !this.#watching.mayEvict
  }

  get contact(): Contact {
    return this.#watching.contact
  }

  /** Whether what is not found may still be written again by another process. */
  get mayLack(): boolean {
    return this.#watching.mayLack
  }

  /** Whether what is found may have been purged by a process that has yet to purge it again. */
  get mayBePurged(): boolean {
    return this.#watching.mayBePurged
  }

  /** Names what the server remembers; differs after a restart, a failover and a flush. */
  get generation(): string {
    return this.#watching.repair.server
  }

  /** Writes that could be made again now, and what became of others. */
  get repair(): Repair {
    return this.#watching.repair
  }

  /** For how long it has been away, in milliseconds; 0 if calls are sent. */
  get awayMs(): number {
    return this.#isOpen ? 0 : performance.now() - this.#awaySince
  }

  /** Whether it answers that it takes no calls, so that to wait for it is no use. */
  get isRefusing(): boolean {
    const isFailing = !this.#isOpen || this.#failures > 0
    return isFailing && isLastingRefusal(this.#lastFailure, this.#options.mayMove)
  }

  get pending(): number {
    return this.#queue.pending
  }

  get pendingBytes(): number {
    return this.#queue.pendingBytes
  }

  get refused(): number {
    return this.#queue.refused
  }

  /** Calls a function on a tenant's keys; one of `TIMED` learns until when it may have effect. */
  async call(name: FunctionName, root: string, args: readonly Argument[]): Promise<Result<Reply>> {
    if (this.#watching.mayEvict && ADDING.has(name)) return EVICTING
    return this.#functions.call(name, root, args)
  }

  /** Sends a command about one key. */
  async command(key: string, args: readonly Argument[]): Promise<Result<Reply>> {
    const answer = await this.#guarded(key, args, { names: [String(args[0]).toLowerCase()] })
    return answer === MISSING ? UNREACHABLE : answer
  }

  /**
   * Keeps a write that was answered, to make it again on a server that may not have it.
   * @param connection the number of the connection before the call
   */
  remember(write: RecentWrite, connection: number): void {
    this.#watching.repair.note(write, connection === this.#number)
  }

  /** Resolves when the writes so far are as durable as configured; with the reason if not. */
  async confirm(root: string, connection: number): Promise<Failure | undefined> {
    if (this.#options.durability === 'primary') return undefined
    if (connection !== this.#number) return NOT_DURABLE
    return this.#waits.next(this.#options.isSharded ? root : '')
  }

  /** Resolves when the server can be used, or after `ms` milliseconds with why not. Called once. */
  async ready(ms: number): Promise<Failure | undefined> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#onReady = resolve
    // This timer keeps the process alive: at a start nothing else may, while the server is away.
    const timer = setTimeout(resolve, ms, false)
    const isReady = this.isAvailable || (await promise)
    clearTimeout(timer)
    if (isReady) return undefined
    if (this.#isOpen) return EVICTING
    this.#announce(this.#lastFailure)
    return this.#lastFailure
  }

  /** Whether tenants are on several nodes. */
  get isSharded(): boolean {
    return this.#options.isSharded
  }

  async close(): Promise<void> {
    const connection = this.#connection
    if (this.#isOpen && connection !== null) await this.#watching.leave(connection)
    this.#isClosed = true
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#connection?.close()
    this.#connection = null
  }

  async #wait(key: string): Promise<Failure | undefined> {
    const { durability, waitMs } = this.#options
    const connection = this.#number
    const wait =
      durability === 'replica' ? ['WAIT', '1', `${waitMs}`] : ['WAITAOF', '1', '0', `${waitMs}`]
    const answer = await this.#guarded(key, wait, { names: ['wait'], extraMs: waitMs })
    if (answer === MISSING || connection !== this.#number) return NOT_DURABLE
    if (!answer.ok) return answer
    const confirmed = Number(Array.isArray(answer.reply) ? answer.reply[0] : answer.reply)
    return confirmed >= 1 ? undefined : NOT_DURABLE
  }

  /** Sends a command when its turn comes, if the breaker is closed then and the queue has room. */
  async #guarded(key: string, args: readonly Argument[], call: SendOptions) {
    const bytes = args.reduce((sum, each) => sum + each.length, 0)
    const answer = await this.#queue.run(bytes, async () => {
      if (this.#isClosed) return CLOSED
      if (!this.#isOpen || this.#connection === null) return this.#lastFailure
      const timed = call.isTimed === true ? [...args, this.#latest()] : args
      const started = performance.now()
      const ms = this.#options.callTimeoutMs + (call.extraMs ?? 0)
      const answered = await sendInTime(this.#connection, key, timed, ms)
      if (answered !== MISSING) this.#note(answered)
      const failure = answered === MISSING || answered.ok ? null : answered.reason
      const tookMs = performance.now() - started
      for (const name of call.names) this.#options.onCall?.(name, tookMs, failure)
      return answered
    })
    return answer ?? OVERLOADED
  }

  /** The server's time after which a call that is sent now has no effect; empty: unknown. */
  #latest(): string {
    const { isSharded, callTimeoutMs } = this.#options
    // Nodes of a cluster have clocks of their own.
    return isSharded ? '' : this.contact.timeIn(callTimeoutMs)
  }

  #note(answer: Result<Reply>): void {
    if (answer.ok || !isAway(answer)) {
      this.#failures = 0
      return
    }
    this.#lastFailure = answer
    this.#failures++
    if (this.#failures >= this.#options.breakerFailures) this.#goAway(answer)
  }

  /** From now on calls fail at once; the server is tried again in the background. */
  #goAway(failure: Failure): void {
    this.#lastFailure = failure
    if (!this.#isOpen || this.#isClosed) return
    this.#isOpen = false
    this.#watching.contact.lost()
    this.#awaySince = performance.now()
    this.#announce(failure)
    this.#schedule(0)
  }

  #announce({ detail }: Failure): void {
    this.#isAnnounced = true
    this.#options.onEvent({ kind: 'unreachable', detail })
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    this.#timer = setTimeout(() => void this.#watch(), ms).unref()
  }

  /** Connects if that is needed, and looks at the server's role and policy. Never rejects. */
  async #watch(): Promise<void> {
    const failure = await this.#look()
    if (this.#isClosed) return
    if (failure !== undefined) this.#watching.contact.lost()
    if (failure === TOO_LATE && this.#isOpen) this.#note(failure)
    else if (failure !== undefined) {
      // The Sentinels may know another primary by now, so the next attempt asks them.
      this.#drop()
      this.#goAway(failure)
    } else if (!this.#isOpen) this.#comeBack()
    this.#schedule(failure === undefined ? WATCH_MS : this.#options.probeMs)
  }

  async #look(): Promise<Failure | undefined> {
    const connection = this.#connection ?? (await this.#connect())
    return 'ok' in connection ? connection : this.#watching.look(connection, () => this.#fence())
  }

  /** Another server: calls that were sent before have no effect there, and none is sent for now. */
  #fence(): void {
    this.#number++
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#awaySince = performance.now()
    this.#lastFailure = FORGETFUL
  }

  async #connect(): Promise<Connection | Failure> {
    let opened: Connection | null = null
    try {
      opened = await this.#options.connect(error => {
        if (this.#connection === opened && opened !== null) this.#lose(error)
      })
      if (this.#isClosed) {
        opened.close()
        return CLOSED
      }
      this.#connection = opened
      this.#number++
      return opened
    } catch (error) {
      return failureOf(error)
    }
  }

  #lose(error: Error): void {
    this.#drop()
    this.#goAway(failureOf(error))
  }

  #drop(): void {
    this.#connection?.close()
    this.#connection = null
    this.#number++
  }

  #comeBack(): void {
    this.#isOpen = true
    this.#failures = 0
    const away_ms = Math.round(performance.now() - this.#awaySince)
    if (this.#isAnnounced) this.#options.onEvent({ kind: 'reachable', away_ms })
    this.#isAnnounced = false
    this.#onReady(true)
  }
}
