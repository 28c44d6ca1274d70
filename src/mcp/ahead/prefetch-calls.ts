import type { Fetched, ScopedCall } from '../../ahead/prefetch.ts'
import type { ListedTool } from '../../core/enrich/eligibility.ts'
import type { OfferTerms } from '../../core/enrich/projections.ts'
import { mirrorsOf } from '../catalogue/mirrored-params.ts'
import type { ClientCall } from '../gateway-options.ts'
import { errorOutcome, RPC_ERRORS } from '../json-rpc.ts'
import type { Servers } from '../servers.ts'
import type { LandedResult, OfferReader } from './offer-reader.ts'

/** Larger results are not kept, and not read. */
const MAX_RESULT_BYTES = 1024 * 1024
/** How long a host is left alone that answered 429, in milliseconds. */
const PAUSE_MS = 30_000
/** Tools that are remembered to ask for input. */
const MAX_ASKING = 1_000

/** Makes the calls that are fetched ahead over one client's connections. */
export class PrefetchCalls {
  readonly #servers: Servers
  readonly #read: OfferReader
  /** Calls of the model that are under way, by server, the latest last. */
  readonly #own = new Map<string, Set<ClientCall>>()
  /** Tools that asked for input when they were called ahead. They are not again. */
  readonly #asking = new Set<string>()

  constructor(servers: Servers, read: OfferReader) {
    this.#servers = servers
    this.#read = read
  }

  /** The tool with what its earlier calls have shown. */
  asSeen(tool: ListedTool): ListedTool {
    const isAsking = this.#asking.has(nameOf(tool.server, tool.name))
    return isAsking ? { ...tool, isInteractive: true } : tool
  }

  /** Told of a call of the model, from before it is sent. Returns what ends it. */
  begin(server: string, call: ClientCall): () => void {
    const calls = this.#own.get(server) ?? new Set()
    this.#own.set(server, calls.add(call))
    return () => void calls.delete(call)
  }

  /** @param terms what the result is read for */
  async fetch(
    { tool, args, scope: { upstream: server } }: ScopedCall,
    terms: OfferTerms,
    signal: AbortSignal,
  ): Promise<Fetched<LandedResult>> {
    let hasAsked = false
    const ask: ClientCall['ask'] = (method, params, asked) => {
      hasAsked = true
      // Over a pipe a server does not say which call it asks for: it may be one of the model's.
      const own = [...(this.#own.get(server) ?? [])].at(-1)
      if (own !== undefined) return own.ask(method, params, asked)
      this.#remember(nameOf(server, tool))
      return Promise.resolve(REFUSED)
    }
    const params = Buffer.from(`{"name":${JSON.stringify(tool)},"arguments":${args}}`)
    const entry = this.#servers.catalogue.ownTool(server, tool)
    const end = await this.#servers.connectionOf(server).call({
      method: 'tools/call',
      params,
      signal,
      ...(entry === undefined ? {} : { mirrored: mirrorsOf(entry.raw, params) }),
      timeoutMs: this.#servers.settingsOf(server).timeout_ms,
      canRepeat: false,
      notify: () => {},
      ask,
    })
    if (end.kind === 'malformed' && end.status === TOO_MANY) {
      return { ...NOTHING, retryAfterMs: PAUSE_MS }
    }
    if (end.kind !== 'answered' || end.outcome.kind === 'error') return NOTHING
    const { result } = end.outcome
    if (hasAsked || result.length > MAX_RESULT_BYTES) return { ...NOTHING, bytes: result.length }
    // A copy: the original may be a part of a larger buffer.
    const bytes = Buffer.from(result)
    const read = await this.#read(bytes, terms)
    if (read?.asksForInput === true) this.#remember(nameOf(server, tool))
    if (read === null || !read.isComplete) return { ...NOTHING, bytes: bytes.length }
    const { tokens, calls } = read
    return { result: { bytes, tokens, calls }, bytes: bytes.length }
  }

  #remember(name: string): void {
    if (this.#asking.size < MAX_ASKING) this.#asking.add(name)
  }
}

const TOO_MANY = 429

const REFUSED = errorOutcome(RPC_ERRORS.internal, 'no input can be asked for now')

const NOTHING: Fetched<LandedResult> = { result: null, bytes: 0 }

function nameOf(server: string, tool: string): string {
  return JSON.stringify([server, tool])
}
