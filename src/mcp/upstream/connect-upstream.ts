import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { Backoff } from './backoff.ts'
import { CallLimit } from './call-limit.ts'
import { type Clock, SYSTEM_CLOCK } from './clock.ts'
import type {
  CallEnd,
  CallFailure,
  ConnectionListener,
  ServerFacts,
  UpstreamCall,
  UpstreamConnection,
  UpstreamCounts,
} from './connection.ts'
import { type Opened, openSession } from './era.ts'
import { guardedCall, guardedListener, type Log } from './guarded.ts'
import { isVersionRefused } from './handshake.ts'
import { HttpLink } from './http-transport.ts'
import type { LinkEnd, LinkEvents, LinkFailure, LinkGone } from './link.ts'
import { followChanges } from './list-changes.ts'
import { DEFAULT_LIMITS, type UpstreamLimits, type UpstreamOptions } from './options.ts'
import { Session } from './session.ts'
import { SseLink } from './sse-link.ts'
import { StdioLink } from './stdio-transport.ts'

/** Between two sessions that are opened at once, because the server forgot the one before. */
const FORGOTTEN_MS = 10_000

/** A call that did not run is sent again; not for ever, if its server dies each time. */
const MOST_REPEATS = 2

type State =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'up'; readonly session: Session; readonly facts: ServerFacts }
  | { readonly kind: 'down'; readonly failure: LinkFailure }
  | { readonly kind: 'closed' }

/** Starts to connect at once, and connects again until it is closed. */
export function connectUpstream(options: UpstreamOptions): UpstreamConnection {
  const connection = new LastingConnection(options)
  connection.connect()
  return connection
}

/** Sessions with one server, one after another. */
class LastingConnection implements UpstreamConnection {
  readonly #options: UpstreamOptions
  readonly #limits: UpstreamLimits
  readonly #clock: Clock
  readonly #log: Log
  readonly #listener: ConnectionListener
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  /** All whose links are not closed yet. */
  readonly #sessions = new Set<Session>()
  readonly #counts = { torn: 0, foreign: 0, reconnects: 0 }
  #state: State = { kind: 'down', failure: { kind: 'down' } }
  /** Called when the state changes. */
  #waiting: (() => void)[] = []
  #attempt: Promise<void> = Promise.resolve()
  #cancelRetry = () => {}
  #stopWatching = () => {}
  #stopChanges = new AbortController()
  #hasSettled = false
  #hasBeenUp = false
  #forgottenAt = Number.NEGATIVE_INFINITY
  #lastErrors = ''
  /** Why the last attempt failed, or the session before ended; `null` after a good one. */
  #lastFailure: LinkFailure | null = null

  constructor(options: UpstreamOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#clock = options.clock ?? SYSTEM_CLOCK
    this.#log = (event, fields) => options.log?.(event, { server: options.name, ...fields })
    this.#listener = guardedListener(options.listener, this.#log)
    this.#backoff = new Backoff(this.#clock)
  }

  connect(): void {
    this.#cancelRetry()
    if (this.#state.kind !== 'down') return
    this.#stopWatching()
    this.#become({ kind: 'connecting' })
    this.#attempt = this.#open().then(
      opened => this.#opened(opened),
      error => this.#down({ kind: 'down' }, String(error)),
    )
  }

  async facts(): Promise<ServerFacts | null> {
    while (this.#state.kind === 'connecting') await this.#change()
    return this.#state.kind === 'up' ? this.#state.facts : null
  }

  async call(call: UpstreamCall): Promise<CallEnd> {
    const limit = new CallLimit(call.signal, call.timeoutMs, this.#clock)
    try {
      return await this.#run(guardedCall(call, this.#log), limit)
    } catch (error) {
      this.#log('mcp call failed', { error })
      return { kind: 'malformed', detail: 'our own failure' }
    } finally {
      limit.release()
    }
  }

  notify(method: string, params: JsonBytes | null): void {
    if (this.#state.kind === 'up') void this.#state.session.notify(method, params)
  }

  counts(): UpstreamCounts {
    return { ...this.#counts }
  }

  lastErrors(): string {
    return this.#state.kind === 'up' ? this.#state.session.lastErrors() : this.#lastErrors
  }

  async close(): Promise<void> {
    this.#become({ kind: 'closed' })
    this.#cancelRetry()
    this.#stopWatching()
    this.#closing.abort()
    this.#stopChanges.abort()
    await Promise.all([...this.#sessions].map(session => session.close()))
    await this.#attempt
  }

  async #run(call: UpstreamCall, limit: CallLimit): Promise<CallEnd> {
    let repeatsLeft = MOST_REPEATS
    let mayReplay = call.canRepeat
    for (;;) {
      const up = await this.#whenUp(limit)
      if (!(up instanceof Session)) return up
      const end = await up.call(call, limit)
      if (end.kind === 'unauthorized') this.#watchHeaders()
      const hasRun = this.#hasRun(end, up)
      const isAgain = hasRun === 'no' || (hasRun === 'maybe' && mayReplay)
      if (!isAgain || repeatsLeft-- === 0) return callEndOf(end)
      if (hasRun === 'maybe') mayReplay = false
    }
  }

  /** `maybe`: and nothing of its answer came. */
  #hasRun(end: LinkEnd, session: Session): 'yes' | 'maybe' | 'no' {
    if (end.kind === 'noSession') return 'no'
    if (end.kind === 'lost') return end.sawBytes ? 'yes' : end.hasRun
    if (end.kind !== 'answered' || !isVersionRefused(end.outcome)) return 'yes'
    // The server was replaced by one of another revision.
    this.#options.verdicts.delete(this.#options.verdictKey)
    this.#gone(session, 'noSession')
    return 'no'
  }

  /** The session to use, after some waiting if there is none, or why there is none. */
  async #whenUp(limit: CallLimit): Promise<Session | CallFailure> {
    const { firstWaitMs, downWaitMs } = this.#limits
    let hadSettled = this.#hasSettled
    let until = this.#clock.now() + (hadSettled ? downWaitMs : firstWaitMs)
    // New credentials may have come since.
    if (this.#state.kind === 'down' && this.#state.failure.kind === 'unauthorized') this.connect()
    for (;;) {
      if (limit.reason === 'timeout') return downBy(this.#lastFailure)
      if (limit.reason !== null) return { kind: limit.reason }
      const state = this.#state
      if (state.kind === 'up') return state.session
      if (state.kind === 'down' && state.failure.kind === 'unauthorized') return state.failure
      const now = this.#clock.now()
      if (this.#hasSettled && !hadSettled) until = Math.min(until, now + downWaitMs)
      hadSettled = this.#hasSettled
      if (state.kind === 'closed' || now >= until) return downBy(this.#lastFailure)
      await limit.race(this.#change(until - now))
    }
  }

  /** Resolves when the state changes, or after that time. */
  #change(ms = Number.POSITIVE_INFINITY): Promise<void> {
    return new Promise(resolve => {
      const cancel = Number.isFinite(ms) ? this.#clock.after(ms, resolve) : () => {}
      this.#waiting.push(() => {
        cancel()
        resolve()
      })
    })
  }

  #become(state: State): void {
    if (this.#state.kind === 'closed') return
    this.#state = state
    if (state.kind === 'up' || state.kind === 'down') this.#hasSettled = true
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #open(): Promise<Opened> {
    return openSession({
      ...this.#options,
      listener: this.#listener,
      limits: this.#limits,
      clock: this.#clock,
      isStdio: this.#options.target.kind === 'stdio',
      signal: this.#closing.signal,
      createSession: (version, isSse) => this.#createSession(version, isSse),
    })
  }

  #createSession(version: string | null, isSse: boolean): Session {
    const { target, claims } = this.#options
    const limits = this.#limits
    const clock = this.#clock
    const session: Session = new Session({
      version,
      claims,
      clock,
      listener: this.#listener,
      openLink: (events: LinkEvents) => {
        if (target.kind === 'stdio') return new StdioLink(target, events, limits, clock)
        if (isSse) return new SseLink(target, events, limits, clock)
        return new HttpLink(target, events, limits, clock, version)
      },
      onIgnored: kind => this.#counts[kind]++,
      onGone: reason => this.#gone(session, reason),
      onClosed: () => this.#sessions.delete(session),
    })
    this.#sessions.add(session)
    return session
  }

  #opened(opened: Opened): void {
    if (opened.kind === 'failed') this.#down(opened.failure, opened.lastErrors)
    else if (this.#state.kind === 'closed') void opened.session.close()
    else if (opened.session.isGone) {
      opened.session.retire()
      this.#down({ kind: 'down' }, opened.session.lastErrors())
    } else this.#up(opened.session, opened.facts)
  }

  #up(session: Session, facts: ServerFacts): void {
    if (this.#hasBeenUp) this.#counts.reconnects++
    this.#hasBeenUp = true
    this.#lastFailure = null
    this.#backoff.connected()
    this.#become({ kind: 'up', session, facts })
    this.#log('mcp server connected', { era: facts.era, version: facts.protocolVersion })
    this.#listener.onConnected(facts)
    if (facts.era === 'legacy') return
    this.#stopChanges = new AbortController()
    const { signal } = this.#stopChanges
    followChanges(session, facts.capabilities, this.#listener, this.#clock, signal).catch(error =>
      this.#log('mcp listening failed', { error }),
    )
  }

  #down(failure: LinkFailure, lastErrors: string): void {
    if (this.#state.kind === 'closed') return
    this.#lastErrors = lastErrors
    this.#lastFailure = failure
    this.#become({ kind: 'down', failure })
    // A challenge may repeat what we sent.
    const { kind } = failure
    const detail = kind === 'malformed' ? failure.detail : undefined
    this.#log('mcp server is down', { failure: kind, detail, stderr: lastErrors })
    if (kind === 'unauthorized') {
      this.#watchHeaders()
      return
    }
    this.#cancelRetry = this.#clock.after(this.#backoff.next(), () => this.connect())
  }

  /** Tries again once there may be other credentials. */
  #watchHeaders(): void {
    const { target } = this.#options
    this.#stopWatching()
    if (target.kind !== 'http' || target.renewal === undefined) return
    this.#stopWatching = target.renewal.onChange(() => {
      this.#stopWatching()
      if (this.#state.kind === 'up') this.#gone(this.#state.session, 'noSession')
      this.connect()
    })
  }

  #gone(session: Session, reason: LinkGone): void {
    const state = this.#state
    if (state.kind !== 'up' || state.session !== session) return
    this.#stopChanges.abort()
    session.retire()
    this.#down({ kind: reason === 'flooded' ? 'flooded' : 'down' }, session.lastErrors())
    this.#listener.onLost()
    const now = this.#clock.now()
    if (reason !== 'noSession' || now - this.#forgottenAt < FORGOTTEN_MS) return
    this.#forgottenAt = now
    this.connect()
  }
}

function callEndOf(end: LinkEnd): CallEnd {
  if (end.kind === 'noSession') return { kind: 'lost', hasRun: 'no' }
  return end.kind === 'lost' ? { kind: 'lost', hasRun: end.hasRun } : end
}

/** Why nothing was asked. */
function downBy(failure: LinkFailure | null): CallFailure {
  if (failure?.kind === 'down') return failure
  if (failure?.kind !== 'malformed') return { kind: 'down' }
  return { kind: 'down', detail: `it answers with no MCP: ${failure.detail}` }
}
