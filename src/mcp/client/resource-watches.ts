import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../core/json/bytes/json-tokens.ts'
import { OPEN_BRACKET } from '../../core/json/char-codes.ts'
import type { ClientCall } from '../gateway-options.ts'
import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import { EMPTY_OBJECT, member, objectMember, withMember, withoutMember } from '../members.ts'
import { failureError } from '../results/call-failures.ts'
import { Backoff } from '../upstream/backoff.ts'
import { pause, SYSTEM_CLOCK } from '../upstream/clock.ts'
import type { UpstreamConnection } from '../upstream/connection.ts'
import { META } from '../upstream/envelope.ts'

const UPDATED = 'notifications/resources/updated'
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged'

/** Resources of one client that are watched at a time. */
const MOST_WATCHED = 1_000

const DONE: Outcome = { kind: 'result', result: EMPTY_OBJECT }

export interface WatchNeeds {
  /** The server of a resource; `null` if there is none. */
  ownerOf(uri: string): string | null
  connectionOf(server: string): UpstreamConnection
  isModern(server: string): boolean
  timeoutMs(server: string): number
  /** Reports an update to the client. */
  notify(method: string, params: JsonBytes | null): void
}

/**
 * The resources that one client watches. Servers of earlier revisions are told with
 * `resources/subscribe`, again when they are connected again. Of modern servers a stream is read.
 */
export class ResourceWatches {
  readonly #needs: WatchNeeds
  readonly #watched = new Map<string, { readonly server: string; readonly stop: AbortController }>()

  constructor(needs: WatchNeeds) {
    this.#needs = needs
  }

  /** Never rejects. */
  async subscribe(uri: string, call: ClientCall): Promise<Outcome> {
    if (this.#watched.has(uri)) return DONE
    const server = this.#needs.ownerOf(uri)
    if (server === null) {
      return errorOutcome(RPC_ERRORS.invalidParams, 'Resource not found', { uri })
    }
    if (this.#watched.size >= MOST_WATCHED) {
      return errorOutcome(RPC_ERRORS.internal, 'too many resources are watched')
    }
    const watched = { server, stop: new AbortController() }
    this.#watched.set(uri, watched)
    const outcome = this.#needs.isModern(server)
      ? await this.#listen(uri, server, watched.stop.signal)
      : await this.#tell('resources/subscribe', uri, server, call.signal)
    if (outcome.kind === 'error' && this.#watched.get(uri) === watched) this.#forget(uri)
    return outcome
  }

  async unsubscribe(uri: string, call: ClientCall): Promise<Outcome> {
    const watched = this.#watched.get(uri)
    if (watched === undefined) return DONE
    this.#forget(uri)
    if (this.#needs.isModern(watched.server)) return DONE
    return this.#tell('resources/unsubscribe', uri, watched.server, call.signal)
  }

  /** A server of an earlier revision has forgotten what it was told. */
  connected(server: string): void {
    if (this.#needs.isModern(server)) return
    for (const [uri, watched] of this.#watched) {
      if (watched.server !== server) continue
      void this.#tell('resources/subscribe', uri, server, watched.stop.signal)
    }
  }

  close(): void {
    for (const uri of [...this.#watched.keys()]) this.#forget(uri)
  }

  #forget(uri: string): void {
    this.#watched.get(uri)?.stop.abort()
    this.#watched.delete(uri)
  }

  async #tell(method: string, uri: string, server: string, signal: AbortSignal): Promise<Outcome> {
    const end = await this.#needs.connectionOf(server).call({
      method,
      params: jsonBytes({ uri }),
      signal,
      canRepeat: true,
      timeoutMs: this.#needs.timeoutMs(server),
      notify: () => {},
      ask: refuse,
    })
    return end.kind === 'answered' ? end.outcome : failureError(server, end)
  }

  /** Resolves once the server has acknowledged or refused, and continues to read after that. */
  #listen(uri: string, server: string, signal: AbortSignal): Promise<Outcome> {
    return new Promise(resolve => {
      const refused = errorOutcome(RPC_ERRORS.internal, `"${server}" does not watch this resource`)
      const limit = setTimeout(() => resolve(refused), this.#needs.timeoutMs(server))
      const settle = (outcome: Outcome) => {
        clearTimeout(limit)
        resolve(outcome)
      }
      void this.#follow(uri, server, signal, () => settle(DONE)).finally(() => settle(refused))
    })
  }

  /** Reads streams of updates, one after another, until there are none to expect. Never rejects. */
  async #follow(
    uri: string,
    server: string,
    signal: AbortSignal,
    onGranted: () => void,
  ): Promise<void> {
    const backoff = new Backoff(SYSTEM_CLOCK)
    const params = jsonBytes({ notifications: { resourceSubscriptions: [uri] } })
    while (!signal.aborted) {
      let isGranted = true
      const end = await this.#needs.connectionOf(server).call({
        method: 'subscriptions/listen',
        params,
        signal,
        canRepeat: true,
        ask: refuse,
        timeoutMs: Number.POSITIVE_INFINITY,
        notify: (method, about) => {
          if (method === UPDATED) this.#needs.notify(method, withoutSubscription(about))
          if (method !== ACKNOWLEDGED) return
          isGranted = grants(about)
          backoff.connected()
          if (isGranted) onGranted()
        },
      })
      const mayGoOn = end.kind === 'lost' || end.kind === 'down' || end.kind === 'answered'
      const isRefused = end.kind === 'answered' && end.outcome.kind === 'error'
      if (!mayGoOn || isRefused || !isGranted) return
      await pause(SYSTEM_CLOCK, backoff.next(), signal)
    }
  }
}

function grants(params: JsonBytes | null): boolean {
  const granted = params === null ? null : objectMember(params, 'notifications')
  const uris = granted === null ? null : member(granted, 'resourceSubscriptions')
  return uris?.[0] === OPEN_BRACKET && skipSpace(uris, 1) < uris.length - 1
}

/** Without the server's name of the subscription, which is not the client's. */
function withoutSubscription(params: JsonBytes | null): JsonBytes | null {
  const meta = params === null ? null : objectMember(params, '_meta')
  const rest = meta === null ? null : withoutMember(meta, META.subscriptionId)
  return params === null || rest === null ? params : withMember(params, '_meta', rest)
}

const refuse = () =>
  Promise.resolve(errorOutcome(RPC_ERRORS.methodNotFound, 'nothing can be asked here'))
