import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { ResultPlace, ResultTerms } from '../../core/contract/request-terms.ts'
import { RETRIEVE_TOOL } from '../../core/contract/retrieve-tool.ts'
import { nextTurn } from '../../core/json/bytes/check-large-json.ts'
import { LARGE_BYTES } from '../../core/json/bytes/checked-json.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { type NotShown, notShownIn } from '../../core/parts/not-shown.ts'
import { EnrichedCalls } from '../ahead/enriched-calls.ts'
import { withNotes } from '../ahead/result-texts.ts'
import type { PublicEntry } from '../catalogue/catalogue.ts'
import { mirrorsOf } from '../catalogue/mirrored-params.ts'
import { ToolSearch } from '../catalogue/search/tool-search.ts'
import { type ToolFacts, toolFacts } from '../catalogue/tool-facts.ts'
import { ComposedTools } from '../composed/composed-tools.ts'
import type { ClientCall, GatewayOptions, ServerSettings } from '../gateway-options.ts'
import { errorOutcome, jsonBytes, type Outcome, RPC_ERRORS } from '../json-rpc.ts'
import { EMPTY_OBJECT, objectMember, textMember, withMember } from '../members.ts'
import { failureResult } from '../results/call-failures.ts'
import type { Delivery } from '../results/pack.ts'
import { escapedTerms, mayOmit, responseBudgetOf, resultTerms } from '../results/result-terms.ts'
import { callRetrieve } from '../results/retrieve-tool.ts'
import type { Servers } from '../servers.ts'
import type { CallEnd } from '../upstream/connection.ts'
import { type ClientProfile, clientProfile } from './client-profile.ts'

/** Above this an original is not answered whole: some 25,000 tokens, the limit of clients. */
const MAX_ORIGINAL_BYTES = 80_000

/** A tool for hosts, which is not listed: the conversation of the call was compacted. */
const COMPACTED_TOOL = 'haversack_compacted'
/** Contexts of a client that are remembered. */
const MOST_CONTEXTS = 1_000

/** Results of a client that lack parts and are remembered. Of an older one all is fetched. */
const MOST_HIDDEN = 200

/** A call of a tool that a server lists. */
interface RoutedCall {
  readonly call: ClientCall
  readonly entry: PublicEntry
  readonly facts: ToolFacts
  readonly settings: ServerSettings
  /** As the client sent them. */
  readonly params: JsonBytes
  /** In its context; `null` if its result stands alone. */
  readonly place: ResultPlace | null
}

/** The calls of tools of one client: to a server, and its result made smaller. */
export class ToolCalls {
  readonly #options: GatewayOptions
  readonly #servers: Servers
  readonly #profile: ClientProfile
  readonly #enriched: EnrichedCalls | null
  readonly #composed: ComposedTools
  /** `null`: all tools are listed. */
  readonly search: ToolSearch | null
  #offersRetrieve: boolean
  /** What results did not show, by their contexts and hashes. */
  readonly #hidden = new BoundedMap<string, NotShown>(MOST_HIDDEN)
  /** In which calls came, the last one at the end. */
  readonly #contexts = new Set<string>()

  constructor(options: GatewayOptions, servers: Servers) {
    this.#options = options
    this.#servers = servers
    this.#profile = clientProfile(options.client.name)
    const { limit, namesContexts } = this.#profile
    const { enrichment, tenant } = options
    this.#enriched =
      enrichment === undefined ? null : new EnrichedCalls(enrichment, servers, tenant)
    this.#composed = new ComposedTools(options.composed ?? [], servers, (name, call) =>
      this.#callListed(call, name, null),
    )
    this.search =
      options.search === undefined
        ? null
        : new ToolSearch(options.search, {
            servers,
            isOwn: this.#profile.searchesTools,
            composed: () => this.#composed.definitions(),
          })
    this.#offersRetrieve =
      options.alwaysRetrieves ||
      limit !== null ||
      (namesContexts && options.contexts !== undefined) ||
      options.servers.some(({ settings }) => mayOmit(settings))
  }

  /**
   * Whether the client is offered `haversack_retrieve`: if anything may be left out, or referred
   * to. A client that names a context once is offered it from then on.
   */
  offersRetrieve(context: string | null = null): boolean {
    if (context !== null && this.#options.contexts !== undefined) this.#offersRetrieve = true
    return this.#offersRetrieve || this.#enriched?.mayOmit === true
  }

  /** Definitions of tools that are composed of others, by name. */
  composedDefinitions(): ReadonlyMap<string, JsonBytes> {
    return this.#composed.definitions()
  }

  async close(): Promise<void> {
    await this.#enriched?.close()
  }

  /** What was listed to a client decides for its calls. */
  structuredOf(entry: PublicEntry): 'keep' | 'text' {
    const { structured } = this.#servers.settingsOf(entry.server)
    if (structured !== 'auto') return structured
    return this.#profile.showsStructured && !toolFacts(entry.raw).hasUi ? 'text' : 'keep'
  }

  async call(call: ClientCall): Promise<Outcome> {
    const params = call.params ?? EMPTY_OBJECT
    const name = textMember(params, 'name')
    if (name === null)
      return errorOutcome(RPC_ERRORS.invalidParams, 'a call needs one name, and a short one')
    // Before anything else happens: calls count in the order in which they come.
    const { context } = call
    const place = context === null ? null : (this.#options.contexts?.arrive(context) ?? null)
    if (name === COMPACTED_TOOL && this.#options.contexts !== undefined) {
      this.compacted(context)
      return textResult('Noted: no later result refers to an earlier one.')
    }
    if (context !== null) this.#remember(context)
    // From now on: the client must be able to fetch what a level leaves out.
    if ((responseBudgetOf(params) ?? 'full') !== 'full') this.#offersRetrieve = true
    const role = (await this.search?.roleOf(name)) ?? null
    if (role === 'find') return this.#find(call, place)
    if (role === null) return this.#callNamed(call, name, place)
    const named = await this.search!.named(role, params)
    if (named.kind === 'call') {
      return this.#callNamed({ ...call, params: named.params }, named.name, place)
    }
    return this.#packed(named.result, call, SEARCH, this.#limitedAt(place))
  }

  async #callNamed(call: ClientCall, name: string, place: ResultPlace | null): Promise<Outcome> {
    const offersRetrieve = this.offersRetrieve(call.context)
    if (name === RETRIEVE_TOOL && offersRetrieve) {
      return this.#retrieve(call)
    }
    return (await this.#composed.call(name, call)) ?? this.#callListed(call, name, place)
  }

  async #find(call: ClientCall, place: ResultPlace | null): Promise<Outcome> {
    const started = performance.now()
    const found = await this.search!.find(call.params ?? EMPTY_OBJECT)
    const totalMs = performance.now() - started
    const traceparent = () => call.traceparent ?? null
    const ended = { server: SEARCH, outcome: 'result', upstreamMs: 0, totalMs } as const
    this.#options.onToolCall({ ...ended, started, traceparent })
    return this.#packed(found, call, SEARCH, this.#limitedAt(place))
  }

  /** An answer of ours, packed like any result. */
  async #packed(
    own: JsonBytes,
    call: ClientCall,
    server: string,
    more: Partial<ResultTerms>,
  ): Promise<Outcome> {
    const tool = `mcp__haversack__${server}`
    const terms: ResultTerms = { tool, mode: 'lossless', structured: 'keep', ...more }
    const result = await this.#options.pack(
      own,
      terms,
      server,
      this.#deliveryOf(call, more.place ?? null),
    )
    return { kind: 'result', result }
  }

  #limitedAt(place: ResultPlace | null): Partial<ResultTerms> {
    const { limit } = this.#profile
    return { ...(place === null ? {} : { place }), ...(limit === null ? {} : { limit }) }
  }

  /**
   * Nothing that was sent before is referred to again.
   * @param context `null`: all in which this client has called
   */
  compacted(context: string | null): void {
    for (const each of context === null ? this.#contexts : [context]) {
      this.#options.contexts?.lost(each)
    }
  }

  #remember(context: string): void {
    this.#contexts.delete(context)
    this.#contexts.add(context)
    const [oldest] = this.#contexts
    if (this.#contexts.size <= MOST_CONTEXTS || oldest === undefined) return
    this.#contexts.delete(oldest)
    // It could not be found any more.
    this.#options.contexts?.lost(oldest)
  }

  async #callListed(call: ClientCall, name: string, place: ResultPlace | null): Promise<Outcome> {
    const params = call.params ?? EMPTY_OBJECT
    await this.#servers.listed()
    const entry = this.#servers.catalogue.find('tools', name)
    if (entry === undefined) return unknownTool(name)
    const settings = this.#servers.settingsOf(entry.server)
    return this.#callServer({ call, entry, facts: toolFacts(entry.raw), settings, params, place })
  }

  async #callServer(toolCall: RoutedCall): Promise<Outcome> {
    const { call, entry, facts, settings, params, place } = toolCall
    const named = withMember(params, 'name', JSON.stringify(entry.key))
    if (named === null) return unknownTool(entry.publicKey)
    // Copying many bytes takes long, and they are copied once more as they are sent.
    if (named.length > LARGE_BYTES) await nextTurn()
    const { readOnlyHint, idempotentHint } = facts.annotations
    const canRepeat = settings.trusted && (readOnlyHint === true || idempotentHint === true)
    const { server } = entry
    this.search?.called(entry.publicKey)
    const started = performance.now()
    const traced = withTrace(named, call.traceparent)
    const mirrored = mirrorsOf(entry.raw, params)
    let upstreamMs = 0
    const send = async (): Promise<CallEnd> => {
      const sent = performance.now()
      const end = await this.#servers.send(call, { server, params: traced, canRepeat, mirrored })
      upstreamMs = performance.now() - sent
      return end
    }
    const { end, notes, isServed } =
      this.#enriched === null
        ? { end: await send(), notes: NO_NOTES, isServed: false }
        : await this.#enriched.call({ call, entry, params, ...placeOf(place) }, send)
    if (isServed) upstreamMs = performance.now() - started
    const [unnoted, lines] = await Promise.all([this.#outcomeOf(end, toolCall), notes])
    const outcome: Outcome =
      unnoted.kind === 'error'
        ? unnoted
        : { kind: 'result', result: withNotes(unnoted.result, lines) }
    this.#options.onToolCall({
      server,
      outcome: end.kind === 'answered' ? end.outcome.kind : end.kind,
      started,
      upstreamMs,
      totalMs: performance.now() - started,
      traceparent: () => traceOf(traced),
    })
    return outcome
  }

  /** What the client gets for it. */
  async #outcomeOf(end: CallEnd, toolCall: RoutedCall): Promise<Outcome> {
    const { call, entry, settings, params, place } = toolCall
    const { server } = entry
    if (end.kind !== 'answered') return failureResult(server, end)
    if (end.outcome.kind === 'error') {
      const error = await this.#options.pack(end.outcome.error, escapedTerms(server), server)
      return { kind: 'error', error }
    }
    const structured = this.structuredOf(entry)
    const { limit } = this.#profile
    const terms = {
      ...resultTerms({ entry, settings, params, structured, place, limit }),
      ...(this.#enriched?.omissions({ entry, params }) ?? {}),
    }
    const delivery = this.#deliveryOf(call, place)
    const packed = await this.#options.pack(end.outcome.result, terms, server, delivery)
    for (const hidden of notShownIn(packed)) {
      this.#hidden.set(`${call.context}\0${hidden.hash}`, hidden)
    }
    return { kind: 'result', result: packed }
  }

  #deliveryOf({ context, signal, sent }: ClientCall, place: ResultPlace | null): Delivery {
    const { contexts } = this.#options
    return {
      isCurrent: () =>
        context === null || place === null || contexts?.isCurrent(context, place) !== false,
      hasLeft: () => sent ?? !signal.aborted,
    }
  }

  async #retrieve(call: ClientCall): Promise<Outcome> {
    const { context } = call
    const args = objectMember(call.params ?? EMPTY_OBJECT, 'arguments') ?? EMPTY_OBJECT
    const { tenant, originals, contexts } = this.#options
    const reader =
      context === null || contexts === undefined
        ? null
        : { session: contexts.sessionOf(context), lost: () => contexts.lost(context) }
    const hidden = () => this.#hiddenFrom(context)
    const limits = { maxBytes: MAX_ORIGINAL_BYTES }
    const outcome = await callRetrieve(args, { tenant, reader, hidden }, originals, limits)
    if (outcome.kind === 'error') return outcome
    // It refers to nothing, and is never cut.
    return this.#packed(outcome.result, call, RETRIEVE_TOOL, { response_budget: 'full' })
  }

  /** What results in a context did not show, the newest first. */
  #hiddenFrom(context: string | null): readonly NotShown[] {
    const own = [...this.#hidden].filter(([key]) => key.startsWith(`${context}\0`))
    return own.map(([, hidden]) => hidden).reverse()
  }
}

/** Where searches are counted: as calls of an upstream of this name. */
const SEARCH = 'find_tools'

const NO_NOTES: Promise<readonly string[]> = Promise.resolve([])

function placeOf(place: ResultPlace | null) {
  return { epoch: place?.epoch ?? 0, session: place?.session ?? null }
}

function textResult(text: string): Outcome {
  return { kind: 'result', result: jsonBytes({ content: [{ type: 'text', text }] }) }
}

function unknownTool(name: string): Outcome {
  return errorOutcome(RPC_ERRORS.invalidParams, `Unknown tool: ${name}`)
}

/** The key of `_meta` that W3C trace context has, as in HTTP. */
const TRACEPARENT = 'traceparent'

/** Version, trace, parent, flags (W3C Trace Context, section 3.2). */
const WELL_FORMED = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * The parameters with the trace context of the HTTP request that they came in, unless they have one
 * of their own, which is nearer to the caller.
 */
export function withTrace(params: JsonBytes, traceparent: string | null | undefined): JsonBytes {
  if (traceparent == null || !WELL_FORMED.test(traceparent)) return params
  if (traceOf(params) !== null) return params
  const meta = objectMember(params, '_meta') ?? EMPTY_OBJECT
  const traced = withMember(meta, TRACEPARENT, JSON.stringify(traceparent))
  return (traced && withMember(params, '_meta', traced)) ?? params
}

/** The trace context in the parameters of a request; `null` if there is none. */
export function traceOf(params: JsonBytes): string | null {
  const meta = objectMember(params, '_meta')
  return meta === null ? null : textMember(meta, TRACEPARENT)
}
