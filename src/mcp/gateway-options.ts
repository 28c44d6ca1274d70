import type { ResultTerms } from '../core/contract/request-terms.ts'
import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import type { Originals } from '../store/originals.ts'
import type { EnrichmentNeeds } from './enriched/enriched-calls.ts'
import type { Outcome } from './json-rpc.ts'
import type { ConnectionListener, UpstreamConnection } from './upstream/connection.ts'

/** How the results of one server are treated. */
export interface ServerSettings {
  readonly mode: ResultTerms['mode']
  readonly budget_tokens?: number | undefined
  /** What becomes of `structuredContent`; `auto` decides by the client. */
  readonly structured: 'auto' | 'keep' | 'text'
  /** Limits a call, in milliseconds. */
  readonly timeout_ms: number
  /** Whether the annotations of its tools are believed. */
  readonly trusted: boolean
  /** Patterns of tool names, in which `*` matches anything. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
}

/** One configured server. */
export interface GatewayServer {
  readonly name: string
  readonly settings: ServerSettings
  connect(client: ClientFacts, listener: ConnectionListener): UpstreamConnection
}

/** What a client states of itself. */
export interface ClientFacts {
  /** `clientInfo.name`. */
  readonly name: string | null
  /** JSON objects, byte for byte. */
  readonly info: JsonBytes | null
  readonly capabilities: JsonBytes
}

/** The client of a gateway. */
export interface GatewayClient extends ClientFacts {
  notify(method: string, params: JsonBytes | null): void
  /**
   * Answers what a server asks outside of any call: sampling, elicitation, roots.
   * @param signal aborted if the answer is not wanted any more
   */
  ask(method: string, params: JsonBytes | null, signal?: AbortSignal): Promise<Outcome>
}

/** A request of the client, and what belongs to it. */
export interface ClientCall {
  readonly method: string
  readonly params: JsonBytes | null
  readonly signal: AbortSignal
  /**
   * Which conversation the result is read in: one context has read what it was answered before.
   * `null` if nothing tells.
   */
  readonly context: string | null
  /** Progress and logs of this request; never after its answer. */
  notify(method: string, params: JsonBytes | null): void
  /**
   * Asks the client that made this request for input: sampling, elicitation, roots.
   * @param signal aborted if the answer is not wanted any more
   */
  ask(method: string, params: JsonBytes | null, signal?: AbortSignal): Promise<Outcome>
}

export interface GatewayOptions {
  /** In the order of the configuration. */
  readonly servers: readonly GatewayServer[]
  readonly tenant: string
  readonly client: GatewayClient
  /** Makes a result smaller; the result itself if that fails. Never rejects. */
  pack(result: JsonBytes, terms: ResultTerms): Promise<JsonBytes>
  readonly originals: Pick<Originals, 'fetch' | 'fetchPart'>
  /** Whether `haversack_retrieve` is offered even if no server's results may leave anything out. */
  readonly alwaysRetrieves: boolean
  /** Absent if no model of a tool is to act. */
  readonly enrichment?: EnrichmentNeeds
  /** Reports what happens to a server: `event` is one of a few words. */
  onServer(server: string, event: string, detail?: object): void
}
