import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import {
  errorOutcome,
  jsonBytes,
  type Message,
  RPC_ERRORS,
  writeNotification,
  writeRequest,
} from '../json-rpc.ts'
import { member, withMember } from '../members.ts'
import { Asks } from './asks.ts'
import type { CallLimit } from './call-limit.ts'
import type { Clock } from './clock.ts'
import type { ConnectionListener, UpstreamCall } from './connection.ts'
import { META, metaMember, ownIdOf, prepareParams } from './envelope.ts'
import type { Link, LinkEnd, LinkEvents, LinkGone } from './link.ts'
import type { ClientClaims } from './options.ts'

/** A call as a session carries it. */
export type SessionCall = Pick<UpstreamCall, 'method' | 'params' | 'notify' | 'ask' | 'mirrored'>

export interface SessionOptions {
  /** The revision of a modern server; `null` for a legacy one. */
  readonly version: string | null
  readonly claims: ClientClaims
  readonly listener: ConnectionListener
  readonly clock: Clock
  openLink(events: LinkEvents): Link
  onIgnored(kind: 'torn' | 'foreign'): void
  /** It takes no more calls. */
  onGone(reason: LinkGone): void
  /** Nothing of its link is left. */
  onClosed?(): void
}

interface Pending {
  readonly call: SessionCall
  readonly clientToken: JsonBytes | null
  readonly asks: Set<AbortController>
  sawBytes: boolean
  end(end: LinkEnd): void
}

/** Belongs to no call, even if it comes on a call's stream. */
const FOR_ALL =
  /^notifications\/(?:(?:tools|prompts|resources|roots)\/list_changed|resources\/updated)$/

const BEST_EFFORT: ReadonlySet<string> = new Set([
  'notifications/progress',
  'notifications/message',
])

/**
 * Calls to one server over one link. Requests get ids of ours; an answer with another id is
 * ignored, and so is one that comes after its call was cancelled.
 */
export class Session {
  readonly #options: SessionOptions
  readonly #link: Link
  readonly #asks: Asks
  readonly #unasked: MessageCount
  /** Calls under way, in the order of their starts. */
  readonly #pending = new Map<number, Pending>()
  #nextId = 1
  #isGone = false
  #isFlooded = false
  #isRetired = false
  #closed: Promise<void> | undefined

  /** Throws if the link cannot be opened. */
  constructor(options: SessionOptions) {
    this.#options = options
    this.#unasked = new MessageCount(options.clock)
    this.#link = options.openLink({
      onMessage: (message, callId) => this.#receive(message, callId),
      onFailed: (callId, failure) => {
        const pending = this.#pending.get(callId)
        const sawBytes = pending?.sawBytes === true
        pending?.end(failure.kind === 'lost' && sawBytes ? { ...failure, sawBytes } : failure)
      },
      onIgnored: () => options.onIgnored('torn'),
      onGone: (reason, detail) => {
        this.#isGone = true
        if (detail !== undefined) this.#endAll({ kind: 'down', detail })
        if (reason === 'closed') this.#loseAll()
        options.onGone(reason)
      },
    })
    this.#asks = new Asks(message => {
      if (this.#link.send(message) === null) this.#flooded()
    })
  }

  call(call: SessionCall, limit: CallLimit): Promise<LinkEnd> {
    return new Promise(resolve => {
      if (limit.reason !== null) return resolve({ kind: limit.reason })
      const id = this.#nextId++
      const { version, claims } = this.#options
      const prepared = prepareParams(call.params, id, version, claims)
      if (prepared === null) {
        const outcome = errorOutcome(RPC_ERRORS.invalidParams, 'params or _meta cannot be read')
        return resolve({ kind: 'answered', outcome })
      }
      const { params, clientToken } = prepared
      const asks = new Set<AbortController>()
      const forget = limit.onStop(reason => this.#cancel(id, reason, limit.detail))
      const end = (end: LinkEnd) => {
        if (!this.#pending.delete(id)) return
        forget()
        for (const ask of asks) ask.abort()
        resolve(end)
        this.#closeIfIdle()
      }
      this.#pending.set(id, { call, clientToken, asks, sawBytes: false, end })
      const message = writeRequest(id, call.method, params)
      this.#link.request({
        id,
        method: call.method,
        params,
        message,
        mirrored: call.mirrored ?? {},
      })
    })
  }

  notify(method: string, params: JsonBytes | null): Promise<void> {
    return this.#link.send(writeNotification(method, params)) ?? Promise.resolve()
  }

  /** Whether it takes no more calls. */
  get isGone(): boolean {
    return this.#isGone
  }

  /** Ends the handshake. */
  async ready(protocolVersion: string): Promise<void> {
    this.#link.speak(protocolVersion)
    if (this.#options.version === null) await this.notify('notifications/initialized', null)
    this.#link.listen()
  }

  lastErrors(): string {
    return this.#link.lastErrors()
  }

  /** Closes once the calls under way have ended. */
  retire(): void {
    this.#isRetired = true
    this.#closeIfIdle()
  }

  /** Calls under way are lost. Resolves once nothing of the link is left. */
  close(): Promise<void> {
    this.#isGone = true
    this.#loseAll()
    this.#closed ??= this.#link.close().finally(() => this.#options.onClosed?.())
    return this.#closed
  }

  #closeIfIdle(): void {
    if (this.#isRetired && this.#pending.size === 0) void this.close()
  }

  #endAll(failure: LinkEnd): void {
    for (const { end } of [...this.#pending.values()]) end(failure)
  }

  #loseAll(): void {
    for (const { end, sawBytes } of [...this.#pending.values()]) {
      end({ kind: 'lost', hasRun: 'maybe', sawBytes })
    }
  }

  #cancel(id: number, kind: 'timeout' | 'aborted', detail: string | null): void {
    const pending = this.#pending.get(id)
    const mustNotify = this.#link.drop(id)
    pending?.end({ kind })
    // The handshake is never cancelled; its link is closed.
    if (!mustNotify || pending?.call.method === 'initialize') return
    const reason = detail ?? (kind === 'timeout' ? 'time-out' : null)
    const params = { requestId: id, ...(reason === null ? {} : { reason }) }
    void this.notify('notifications/cancelled', jsonBytes(params))
  }

  #receive(message: Message, callId: number | null): void {
    if (this.#isFlooded) return
    if (message.kind === 'response') {
      const id = ownIdOf(message.id)
      const pending = id === null ? undefined : this.#pending.get(id)
      if (pending !== undefined) {
        pending.end({ kind: 'answered', outcome: message.outcome })
        return
      }
    }
    const patience = this.#unasked.next()
    if (patience === 'flood') this.#flooded()
    else if (message.kind === 'response') this.#options.onIgnored('foreign')
    else if (message.kind === 'notification') {
      // The client can do without some progress and logs.
      if (patience === 'passed on' || !BEST_EFFORT.has(message.method)) {
        this.#notification(message.method, message.params, callId)
      } else this.#options.onIgnored('foreign')
    } else {
      const pending = this.#callOf(callId, this.#underWay().at(-1))
      if (pending !== undefined) pending.sawBytes = true
      const isModern = this.#options.version !== null
      this.#asks.answer(message, {
        isModern,
        open: pending?.asks ?? null,
        ask: pending?.call.ask.bind(pending.call) ?? this.#listenerRequest,
      })
    }
  }

  /** Nothing of it is read any more, and its calls are lost. */
  #flooded(): void {
    if (this.#isFlooded) return
    this.#isFlooded = true
    this.#isGone = true
    this.#endAll({ kind: 'flooded' })
    this.#options.onGone('flooded')
    void this.close()
  }

  readonly #listenerRequest: ConnectionListener['onRequest'] = (method, params, signal) =>
    this.#options.listener.onRequest(method, params, signal)

  #notification(method: string, params: JsonBytes | null, callId: number | null): void {
    const { listener, onIgnored } = this.#options
    if (method === 'notifications/cancelled') {
      const id = params === null ? undefined : member(params, 'requestId')
      if (id != null) this.#asks.cancel(id)
      return
    }
    if (method === 'notifications/progress') {
      this.#progress(method, params)
      return
    }
    const subscribed = this.#pending.get(ownIdOf(metaMember(params, META.subscriptionId)) ?? 0)
    const [only, another] = this.#underWay()
    const other = this.#callOf(callId, another === undefined ? only : undefined)
    const pending = subscribed ?? (FOR_ALL.test(method) ? undefined : other)
    if (pending !== undefined) this.#tell(pending, method, params)
    else if (callId === null || FOR_ALL.test(method)) listener.onNotification(method, params)
    else onIgnored('foreign')
  }

  #progress(method: string, params: JsonBytes | null): void {
    const token = params === null ? null : member(params, 'progressToken')
    const pending = this.#pending.get(ownIdOf(token) ?? 0)
    const clientToken = pending?.clientToken ?? null
    const own =
      params === null || clientToken === null
        ? null
        : withMember(params, 'progressToken', clientToken)
    if (pending === undefined || own === null) this.#options.onIgnored('foreign')
    else this.#tell(pending, method, own)
  }

  #tell(pending: Pending, method: string, params: JsonBytes | null): void {
    pending.sawBytes = true
    pending.call.notify(method, params)
  }

  /** The call whose stream it came on; the other one if the link cannot tell. */
  #callOf(callId: number | null, otherwise: Pending | undefined): Pending | undefined {
    return callId === null ? otherwise : this.#pending.get(callId)
  }

  /** Calls without those that only listen. */
  #underWay(): Pending[] {
    return [...this.#pending.values()].filter(({ call }) => call.method !== 'subscriptions/listen')
  }
}

/** Messages at once after which a server floods, and those that it may go on to send a second. */
const MOST_AT_ONCE = 20_000
const PER_SECOND = 500
/** So many of these reach the client at once. */
const PASSED_AT_ONCE = 1_000

/** What becomes of a message that a server sends of its own accord. */
type Patience = 'passed on' | 'left out' | 'flood'

/** Counts what a server sends of its own accord: notifications, requests, answers to no call. */
class MessageCount {
  readonly #clock: Clock
  #count = 0
  #at: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#at = clock.now()
  }

  next(): Patience {
    const now = this.#clock.now()
    this.#count = Math.max(0, this.#count - ((now - this.#at) * PER_SECOND) / 1000) + 1
    this.#at = now
    if (this.#count > MOST_AT_ONCE) return 'flood'
    return this.#count > PASSED_AT_ONCE ? 'left out' : 'passed on'
  }
}
