import type { ResultTerms } from '../core/contract/request-terms.ts'
import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import type { ReadableOriginals } from '../store/originals.ts'
import type { EnrichmentNeeds } from './ahead/offer-reader.ts'
import type { ListRoom } from './catalogue/lists/list-room.ts'
import type { ServerMemory } from './catalogue/memory/server-memory.ts'
import type { ToolSearchOptions } from './catalogue/search/search-options.ts'
import type { Contexts } from './client/contexts/contexts.ts'
import type { ComposedTool } from './composed/composed-tool.ts'
import type { Outcome } from './json-rpc.ts'
import type { Pack } from './results/pack.ts'
import type {
  CallEnd,
  CallFailure,
  ConnectionListener,
  UpstreamCall,
  UpstreamConnection,
} from './upstream/connection.ts'

/** How the results of one server are treated. */
export interface ServerSettings {
  readonly mode: ResultTerms['mode']
  readonly budget_tokens?: number | undefined
  /** Whether texts of resources are encoded too. */
  readonly resources: boolean
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
  /** What is known of it from the last time; absent: nothing. */
  readonly memory?: ServerMemory | undefined
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
  /** Set for clients of the revision 2026-07-28. */
  readonly isModern?: boolean
  notify(method: string, params: JsonBytes | null): void
  /** Whether it waits for messages that belong to no request; absent: that is not known. */
  isListening?(): boolean
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
  /**
   * Whether the answer has left for the client, once that is known. If the front does not say, it
   * leaves right after, unless `signal` is aborted.
   */
  readonly sent?: Promise<boolean>
  /** The W3C trace context of the HTTP request, if it has one; `_meta` may have another. */
  readonly traceparent?: string | null
  /** Progress and logs of this request; never after its answer. */
  notify(method: string, params: JsonBytes | null): void
  /**
   * Asks the client that made this request for input: sampling, elicitation, roots.
   * @param signal aborted if the answer is not wanted any more
   */
  ask(method: string, params: JsonBytes | null, signal?: AbortSignal): Promise<Outcome>
  /** Set if the client is asked for input inside results: what is sent to the server then. */
  readonly rounds?: Rounds
}

/** A call as one server is to get it. */
export interface ServerRequest {
  readonly server: string
  /** Whether the server asks inside results, too. */
  readonly isModern: boolean
  readonly method: string
  /** With the server's own name for what is called. */
  readonly params: JsonBytes
  /** What the server may take, in milliseconds. */
  readonly timeoutMs: number
}

/** Sends a call to its server on other terms than those of the client's request. */
export type SendAs = (
  params: JsonBytes,
  terms: Pick<UpstreamCall, 'signal' | 'timeoutMs' | 'notify' | 'ask'>,
) => Promise<CallEnd>

/** Plays one round of a call. Never rejects. */
export type Rounds = (request: ServerRequest, send: SendAs) => Promise<CallEnd>

/** A call of a tool, as operators see it: nothing of its content. */
export interface EndedToolCall {
  readonly server: string
  /** `result` or `error` if the server answered, else why there is no answer. */
  readonly outcome: Outcome['kind'] | CallFailure['kind']
  /** By `performance.now()`. */
  readonly started: number
  /** Until the server had answered. */
  readonly upstreamMs: number
  readonly totalMs: number
  /** The W3C trace context of the client's request; `null` if it is not traced. */
  traceparent(): string | null
}

export interface GatewayOptions {
  /** In the order of the configuration. */
  readonly servers: readonly GatewayServer[]
  /** Offered beside the servers' tools, and instead of one of the same name. */
  readonly composed?: readonly ComposedTool[]
  readonly tenant: string
  readonly client: GatewayClient
  readonly pack: Pack
  /** Absent: no result refers to an earlier one. */
  readonly contexts?: Contexts
  /** A call of a tool has ended. Must not throw. */
  onToolCall(call: EndedToolCall): void
  readonly originals: ReadableOriginals
  /** Lists as all clients have them; absent: this client's own. */
  readonly room?: ListRoom
  /** Whether `haversack_retrieve` is offered even if nothing seems to need it. */
  readonly alwaysRetrieves: boolean
  /** What the model is told of packed results, after what the servers state; absent: nothing. */
  readonly legend?: string
  /** Absent: all tools are listed. */
  readonly search?: ToolSearchOptions
  /** Absent if no model of a tool is to act. */
  readonly enrichment?: EnrichmentNeeds
  /** Reports what happens to a server: `event` is one of a few words. */
  onServer(server: string, event: string, detail?: object): void
}
