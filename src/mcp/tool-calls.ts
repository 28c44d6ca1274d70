import type { ResultTerms } from '../core/contract/request-terms.ts'
import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { failureResult } from './call-failures.ts'
import { type PublicEntry, type ToolFacts, toolFacts } from './catalogue.ts'
import { clientProfile } from './client-profile.ts'
import { EnrichedCalls, type EnrichedEnd, withNotes } from './enriched/enriched-calls.ts'
import type { ClientCall, GatewayOptions, ServerSettings } from './gateway-options.ts'
import { errorOutcome, type Outcome, RPC_ERRORS } from './json-rpc.ts'
import { EMPTY_OBJECT, member, objectMember, textMember, withMember } from './members.ts'
import { callRetrieve, RETRIEVE_TOOL } from './retrieve-tool.ts'
import type { Servers } from './servers.ts'

/** Above this an original is not answered whole: some 25,000 tokens, the limit of clients. */
const MAX_ORIGINAL_BYTES = 80_000

/** A call of a tool that a server lists. */
interface ToolCall {
  readonly call: ClientCall
  readonly entry: PublicEntry
  readonly facts: ToolFacts
  readonly settings: ServerSettings
  /** As the client sent them. */
  readonly params: JsonBytes
}

/** The calls of tools of one client: to a server, and its result made smaller. */
export class ToolCalls {
  readonly #options: GatewayOptions
  readonly #servers: Servers
  readonly #showsStructured: boolean
  readonly #enriched: EnrichedCalls | null

  constructor(options: GatewayOptions, servers: Servers) {
    this.#options = options
    this.#servers = servers
    this.#showsStructured = clientProfile(options.client.name).showsStructured
    const { enrichment, tenant } = options
    this.#enriched =
      enrichment === undefined ? null : new EnrichedCalls(enrichment, servers, tenant)
  }

  /** Whether the client is offered `haversack_retrieve`. */
  get offersRetrieve(): boolean {
    const { alwaysRetrieves, servers } = this.#options
    return (
      alwaysRetrieves ||
      servers.some(({ settings }) => settings.mode !== 'lossless') ||
      this.#enriched?.mayOmit === true
    )
  }

  /** The agent has lost what it read in a context; `null` if it does not name its contexts. */
  compacted(context: string | null): void {
    this.#enriched?.compacted(context)
  }

  async close(): Promise<void> {
    await this.#enriched?.close()
  }

  /** What was listed to a client decides for its calls. */
  structuredOf(entry: PublicEntry): 'keep' | 'text' {
    const { structured } = this.#servers.settingsOf(entry.server)
    if (structured !== 'auto') return structured
    return this.#showsStructured && !toolFacts(entry.raw).hasUi ? 'text' : 'keep'
  }

  async call(call: ClientCall): Promise<Outcome> {
    const params = call.params ?? EMPTY_OBJECT
    const name = textMember(params, 'name')
    if (name === null) return errorOutcome(RPC_ERRORS.invalidParams, 'a call needs one name')
    if (name === RETRIEVE_TOOL && this.offersRetrieve) return this.#retrieve(params)
    await this.#servers.listed()
    const entry = this.#servers.catalogue.find('tools', name)
    if (entry === undefined) return unknownTool(name)
    const settings = this.#servers.settingsOf(entry.server)
    return this.#callServer({ call, entry, facts: toolFacts(entry.raw), settings, params })
  }

  async #callServer({ call, entry, facts, settings, params }: ToolCall): Promise<Outcome> {
    const named = withMember(params, 'name', JSON.stringify(entry.key))
    if (named === null) return unknownTool(entry.publicKey)
    const canRepeat = settings.trusted && (facts.isReadOnly || facts.isIdempotent)
    const { server } = entry
    const send = () => this.#servers.send(call, { server, params: named, canRepeat })
    const { end, notes }: EnrichedEnd =
      this.#enriched === null
        ? { end: await send(), notes: NO_NOTES, isServed: false }
        : await this.#enriched.call({ call, entry, params }, send)
    if (end.kind !== 'answered') return failureResult(server, end)
    if (end.outcome.kind === 'error') return end.outcome
    const terms = this.#termsOf(entry, settings, params)
    const packing = this.#options.pack(end.outcome.result, terms)
    const [packed, lines] = await Promise.all([packing, notes])
    return { kind: 'result', result: withNotes(packed, lines) }
  }

  #termsOf(entry: PublicEntry, settings: ServerSettings, params: JsonBytes): ResultTerms {
    const args = member(params, 'arguments')
    const { mode, budget_tokens } = settings
    return {
      tool: `mcp__${entry.server}__${entry.key}`,
      mode,
      structured: this.structuredOf(entry),
      ...(this.#enriched?.omissions({ entry, params }) ?? {}),
      ...(budget_tokens === undefined ? {} : { budget_tokens }),
      ...(args === undefined || args === null ? {} : { args: new Uint8Array(args) }),
    }
  }

  async #retrieve(params: JsonBytes): Promise<Outcome> {
    const args = objectMember(params, 'arguments') ?? EMPTY_OBJECT
    const { tenant, originals } = this.#options
    return callRetrieve(args, tenant, originals, { maxBytes: MAX_ORIGINAL_BYTES })
  }
}

const NO_NOTES: Promise<readonly string[]> = Promise.resolve([])

function unknownTool(name: string): Outcome {
  return errorOutcome(RPC_ERRORS.invalidParams, `Unknown tool: ${name}`)
}
