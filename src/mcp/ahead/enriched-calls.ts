import { isUtf8 } from 'node:buffer'
import { hash, randomUUID } from 'node:crypto'
import { pollTtl } from '../../ahead/polling.ts'
import { announcementOf, type ScopedCall } from '../../ahead/prefetch.ts'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { ResultTerms } from '../../core/contract/request-terms.ts'
import { omittedFields } from '../../core/enrich/call-options.ts'
import { mayMutate } from '../../core/enrich/eligibility.ts'
import { isBrowser } from '../../core/enrich/markup-cap.ts'
import type { FoundModel } from '../../core/enrich/models.ts'
import { fillModel, type ValueModel } from '../../core/enrich/value-model.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { PublicEntry } from '../catalogue/catalogue.ts'
import { listedTool } from '../catalogue/tool-facts.ts'
import type { ClientCall } from '../gateway-options.ts'
import { member, textMember } from '../members.ts'
import type { Servers } from '../servers.ts'
import type { CallEnd } from '../upstream/connection.ts'
import { type KnownCall, keyOf, knownArguments } from './known-call.ts'
import type { EnrichmentNeeds } from './offer-reader.ts'
import { PrefetchCalls } from './prefetch-calls.ts'
import { Prefetches } from './prefetches.ts'
import { isEmpty, refusalResult } from './result-texts.ts'

/** A call of a tool that a server lists. */
export interface EnrichedCall {
  readonly call: ClientCall
  readonly entry: PublicEntry
  /** As the client sent them. */
  readonly params: JsonBytes
  /** Compactions of its context so far. */
  readonly epoch: number
  /** The session of its context; `null` if nothing names it. */
  readonly session: string | null
}

export interface EnrichedEnd {
  readonly end: CallEnd
  /** Lines for the model, to be added to the result. Never rejects. */
  readonly notes: Promise<readonly string[]>
  /** Whether it was fetched ahead: the server was not asked now. */
  readonly isServed: boolean
}

export type OmissionTerms = Pick<ResultTerms, 'omitted_fields' | 'markup'>

/** Contexts of one client whose compactions are watched. */
const MAX_CONTEXTS = 1_000
/** Results above are not compared with each other. */
const MAX_POLLED_BYTES = 65_536

/**
 * The calls of one client, with what models of tools add: calls that are refused once, or answered
 * from a result that was fetched ahead or is the same again. The order of the steps is in
 * `src/ahead/speculation.ts`.
 */
export class EnrichedCalls {
  readonly #needs: EnrichmentNeeds
  readonly #servers: Servers
  readonly #tenant: string
  /** Names this client, and its connections. */
  readonly #client = randomUUID()
  /** Compactions by context, as its latest call said. */
  readonly #epochs = new BoundedMap<string, number>(MAX_CONTEXTS)
  readonly #calls: PrefetchCalls
  readonly #prefetches: Prefetches

  constructor(needs: EnrichmentNeeds, servers: Servers, tenant: string) {
    this.#needs = needs
    this.#servers = servers
    this.#tenant = tenant
    const { shared, read } = needs
    this.#calls = new PrefetchCalls(servers, read)
    this.#prefetches = new Prefetches({
      shared,
      read,
      servers,
      calls: this.#calls,
      tenant,
      scopeOf: server => this.#scopeOf(server),
    })
    servers.onStale = server => shared.invalidate(server)
  }

  /** Makes the call, or answers it without its server. @param send makes it */
  async call(
    { call, entry, params, epoch, session }: EnrichedCall,
    send: () => Promise<CallEnd>,
  ): Promise<EnrichedEnd> {
    const { shared } = this.#needs
    if (!shared.acts) return { end: await send(), notes: Promise.resolve([]), isServed: false }
    this.#noteEpoch(call.context, epoch)
    const known = this.#know({ call, entry, params, session })
    this.#observeOffers(known)
    const refusal = shared.contexts.refuse(known.context, ...this.#failFastTerms(known))
    const owner = { tenant: this.#tenant, session }
    if (refusal !== null) {
      shared.observer({ kind: 'refused', ...owner })
      if (known.key !== null) shared.contexts.withdraw(known.context, known.key)
      return answered(refusalResult(refusal), [])
    }
    const same = known.poll === null ? null : shared.polling.answer(known.poll)
    if (same !== null) {
      shared.observer({ kind: 'unchanged', ...owner })
      return answered(Buffer.from(same.text), [same.note])
    }
    const ahead = await this.#takeAhead(known, call)
    if (ahead !== null) return this.#finish(known, ahead, true)
    const dispatch = () => {
      const ended = this.#calls.begin(entry.server, call)
      return send().finally(ended)
    }
    const isReading = !mayMutate(known.tool, known.found)
    const end = await (isReading ? dispatch() : this.#mutate(known, params, dispatch))
    return this.#finish(known, end, false)
  }

  /** What may be left out of a result of the tool, if the model can fetch it. */
  omissions({ entry, params }: Pick<EnrichedCall, 'entry' | 'params'>): OmissionTerms {
    const { shared } = this.#needs
    const { isEnabled } = shared.settings
    const { keywords } = knownArguments(params)
    const fields = this.#omittedOf(entry, keywords)
    return {
      ...(fields.length === 0 ? {} : { omitted_fields: fields }),
      ...(isEnabled ? { markup: { server: entry.server, keywords } } : {}),
    }
  }

  /** Whether any result may leave something out. */
  get mayOmit(): boolean {
    const { isEnabled } = this.#needs.shared.settings
    return this.#servers.catalogue
      .all('tools')
      .some(
        entry =>
          (isEnabled && isBrowser(entry.key, entry.server)) ||
          this.#omittedOf(entry, []).length > 0,
      )
  }

  #omittedOf({ key, server }: PublicEntry, keywords: readonly string[]): readonly string[] {
    return omittedFields(this.#inForce(this.#needs.shared.models.find(key, server)), keywords)
  }

  /** The model in force: built-in ones only if calls ahead are on. */
  #inForce({ model, stated }: FoundModel): ValueModel {
    return this.#needs.shared.settings.isEnabled ? model : fillModel(stated)
  }

  /** A context that was compacted has lost what it read. */
  #noteEpoch(context: string | null, epoch: number): void {
    const name = this.#contextName(context)
    const before = this.#epochs.get(name)
    this.#epochs.set(name, epoch)
    if (before === undefined || before === epoch) return
    this.#prefetches.end()
    this.#needs.shared.forget(name)
  }

  async close(): Promise<void> {
    this.#prefetches.end()
    const { shared } = this.#needs
    for (const name of this.#epochs.keys()) shared.forget(name)
    await shared.removeClient(this.#client)
  }

  #know({ call, entry, params, session }: Omit<EnrichedCall, 'epoch'>): KnownCall {
    const { shared } = this.#needs
    const { server } = entry
    const tool = listedTool(entry, this.#servers.settingsOf(server).trusted)
    const found = shared.models.find(tool.name, server)
    const given = knownArguments(params)
    const key = keyOf(server, tool.name, given.args)
    const context = this.#contextName(call.context)
    const { poll_ttl_s } = this.#inForce(found)
    const ttlS = shared.settings.isEnabled ? pollTtl(tool.name, poll_ttl_s) : poll_ttl_s
    const isPolled = key !== null && ttlS !== undefined && !mayMutate(tool, found)
    const poll = isPolled ? { context, upstream: server, key, ttlS } : null
    return { ...given, tool, found, key, context, session, poll }
  }

  /**
   * Without a context, one for each client. Sub-agents may share it. That is safe, since nothing
   * depends on what they have read: each result leaves whole.
   */
  #contextName(context: string | null): string {
    // Another client of the tenant may have other rights, and name its contexts alike.
    return JSON.stringify([this.#tenant, this.#client, context])
  }

  /** Each client has its own connections, and with them its own credentials and state. */
  #scopeOf(server: string): ScopedCall['scope'] {
    return { tenant: this.#tenant, upstream: server, client: this.#client }
  }

  #observeOffers({ context, key, tool, args, hosts, session }: KnownCall): void {
    const { shared } = this.#needs
    const server = tool.server
    const decided = shared.contexts.observeCall(context, { key, server, hosts })
    if (decided.length === 0) return
    const scope = this.#scopeOf(server)
    const isKept = args !== null && shared.speculation.has({ scope, tool: tool.name, args })
    for (const offer of decided) {
      shared.observer({ kind: 'decided', tenant: this.#tenant, session, offer, isKept })
    }
    void shared.habits.observe(this.#tenant, decided)
  }

  #failFastTerms({ tool, found }: KnownCall): [string, number | undefined] {
    const { fail_fast_after_n } = this.#inForce(found)
    return [JSON.stringify([tool.server, tool.name]), fail_fast_after_n]
  }

  /** The result that was fetched ahead; `null` if there is none, or its fetch failed. */
  async #takeAhead({ tool, args }: KnownCall, { signal }: ClientCall): Promise<CallEnd | null> {
    if (args === null) return null
    const { speculation } = this.#needs.shared
    const taken = speculation.take({ scope: this.#scopeOf(tool.server), tool: tool.name, args })
    if (taken === null) return null
    if (taken.kind === 'served') return resultEnd(taken.result.bytes)
    const result = await unlessAborted(taken.result, signal)
    if (result === 'aborted') return { kind: 'aborted' }
    return result === null ? null : resultEnd(result.bytes)
  }

  /** Everything that the call can make stale goes before it is dispatched. */
  async #mutate(
    { tool, found }: KnownCall,
    params: JsonBytes,
    send: () => Promise<CallEnd>,
  ): Promise<CallEnd> {
    const { shared } = this.#needs
    const { server } = tool
    const { invalidates } = found.model
    const invalidate = () => {
      shared.polling.invalidateUpstream(invalidates.length === 0 ? server : null)
      shared.contexts.changed(server)
    }
    invalidate()
    const ended = shared.speculation.beginMutation({ upstream: server, invalidates })
    let isOver = false
    try {
      const end = await send()
      isOver = this.#isOver(end, server, params)
      return end
    } finally {
      ended(isOver)
      invalidate()
    }
  }

  /** Whether a call has no effect any more. */
  #isOver(end: CallEnd, server: string, params: JsonBytes): boolean {
    if (end.kind === 'down') return true
    if (end.kind === 'lost') return end.hasRun === 'no'
    if (end.kind !== 'answered') return false
    if (end.outcome.kind === 'error') return true
    // A task continues, and so does a call that asks for input.
    if (member(params, 'task') !== undefined) return false
    if (!this.#servers.isModern(server)) return true
    return (textMember(end.outcome.result, 'resultType') ?? 'complete') === 'complete'
  }

  #finish(known: KnownCall, end: CallEnd, isServed: boolean): EnrichedEnd {
    const { shared } = this.#needs
    if (end.kind !== 'answered' || end.outcome.kind === 'error') {
      if (known.key !== null) shared.contexts.withdraw(known.context, known.key)
      return { end, notes: Promise.resolve([]), isServed }
    }
    const { result } = end.outcome
    const [name] = this.#failFastTerms(known)
    shared.contexts.observeResult(known.context, name, isEmpty(result))
    const note = this.#observePolled(known, result)
    const next = this.#speculate(known, result, isServed)
    const notes = next.then(announced => [note, announced].filter(each => each !== null))
    return { end, notes, isServed }
  }

  #observePolled({ poll, session }: KnownCall, result: JsonBytes): string | null {
    if (poll === null || result.length > MAX_POLLED_BYTES || !isUtf8(result)) return null
    const { polling, observer } = this.#needs.shared
    const note = polling.observe(poll, { hash: hash('sha256', result), text: result.toString() })
    if (note !== null) observer({ kind: 'unchanged', tenant: this.#tenant, session })
    return note
  }

  /** Starts fetches of calls that may come next. Waits only to announce them. Never rejects. */
  async #speculate(known: KnownCall, result: JsonBytes, isServed: boolean): Promise<string | null> {
    const { shared, onBug } = this.#needs
    const { isEnabled, announceMs } = shared.settings
    if (!isEnabled) return null
    const begun = this.#prefetches.after(known, result, isServed).catch((error: unknown) => {
      onBug(error)
      return null
    })
    if (announceMs === 0) return null
    const batch = await unlessAborted(begun, AbortSignal.timeout(announceMs))
    if (batch === null || batch === 'aborted') return null
    // The fetches go on after that.
    await unlessAborted(batch.ended, AbortSignal.timeout(announceMs))
    return announcementOf(batch)
  }
}

function answered(result: JsonBytes, notes: readonly string[]): EnrichedEnd {
  return { end: resultEnd(result), notes: Promise.resolve(notes), isServed: false }
}

function resultEnd(result: JsonBytes): Extract<CallEnd, { kind: 'answered' }> {
  return { kind: 'answered', outcome: { kind: 'result', result } }
}

/** The value, unless the signal is aborted before. */
function unlessAborted<T>(value: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted')
  const { promise, resolve, reject } = Promise.withResolvers<T | 'aborted'>()
  const onAbort = () => resolve('aborted')
  signal.addEventListener('abort', onAbort, { once: true })
  value.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  return promise
}
