import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import type { Access, Caller } from '../access/access.ts'
import type { EndedPasses } from '../access/ended-passes.ts'
import type { Enrichment } from '../ahead/enrichment.ts'
import type { Arms } from '../book/arms/arms.ts'
import type { Budgets } from '../book/bill/budgets.ts'
import type { Savings } from '../book/bill/savings.ts'
import type { Book } from '../book/book.ts'
import type { Ledger } from '../book/rows/ledger.ts'
import type { ClearingTerms } from '../core/base/clearing-terms.ts'
import type { ErrorCode } from '../core/base/errors.ts'
import type { ConfigAnswer, ConfigOf, ConfigQuery } from '../core/contract/config.ts'
import type { CacheLife, RequestTerms } from '../core/contract/request-terms.ts'
import type { RewriteMemory } from '../core/conversation/rewrite/rewrite-memory.ts'
import type { RouteName, VendorName } from '../core/dialects/lookup.ts'
import type { SessionDesk } from '../core/operations/session-desk.ts'
import type { Sessions } from '../core/sessions/turn/shared-sessions.ts'
import type { Fingerprints } from '../fingerprints/fingerprints.ts'
import type { LandedResult } from '../mcp/ahead/offer-reader.ts'
import type { HttpFront } from '../mcp/fronts/http-exchange.ts'
import type { Logger } from '../observability/logger.ts'
import type { Gauges, Metrics } from '../observability/metrics.ts'
import type { Tracing } from '../observability/tracing.ts'
import type { Admission } from '../pool/admission.ts'
import type { Generation } from '../pool/job.ts'
import type { WorkerPool } from '../pool/pool.ts'
import type { UsageObserver } from '../proxy/usage-observer.ts'
import type { Originals } from '../store/originals.ts'
import type { Rewrites } from '../store/sharing/rewrites.ts'
import type { SessionSharing } from '../store/sharing/session-sharing.ts'
import type { StoreHealth } from '../store/store-health.ts'
import type { ForwardedRequest } from './proxy/forwarded-request.ts'
import type { VendorProxy } from './proxy/vendor-proxies.ts'

/** What the server knows of a request beside Node's pair. */
export interface ServerBindings extends Partial<HttpBindings> {
  /**
   * Bytes after the head of a request that came with `upgrade`. Such a request has no `outgoing`.
   */
  readonly upgradeHead?: Buffer
  /** The client waits for a 100 before it sends its body. */
  readonly awaitsContinue?: boolean
}

/** The environment of a request in Hono. Without a port (`app.request()`) there are no bindings. */
export interface AppEnv {
  Bindings: ServerBindings
  Variables: { state: RequestState }
}

/** What the outermost middleware keeps of a request. */
export interface RequestState {
  readonly requestId: string
  /** By `performance.now()`. */
  readonly started: number
  /** Whether the response has the headers of every answer already. */
  sent: boolean
  bodyBytes: number
  /** 0 if it is not known. */
  answerBytes: number
  /** The sender; `ANONYMOUS` until that is known. */
  caller: Caller
  /** The status if the answer did not go through the app; `null`: it got none. */
  status?: number | null
  /** What a proxy did, for the log. */
  forwarded?: ForwardedRequest
  /** The code of the problem that it was answered with. */
  code: ErrorCode | undefined
  /** Entries of `Server-Timing` before the total, in milliseconds. */
  timing: Readonly<Record<string, number>>
  /** Whether the connection ends with this answer, because the service is draining. */
  readonly last: boolean
}

export type AppContext = Context<AppEnv>

/** Whether the service takes work. */
export interface Health {
  readonly state: 'starting' | 'ready' | 'draining'
  /** What the store can do now. */
  store(): Promise<StoreHealth>
}

/** What the routes of the operations need. */
export interface JobDeps {
  readonly pool: Pick<WorkerPool, 'run' | 'runTwoPhase'>
  readonly admission: Pick<Admission, 'enter'>
  readonly metrics: Pick<Metrics, 'detached' | 'job' | 'report'>
  readonly maxBodyBytes: number
  readonly originals: Originals
  /** What plans are made with, read at each use; absent: the defaults. */
  readonly planning?: () => NonNullable<RequestTerms['planning']>
  /** What became of each result is passed on to it; absent if all of it is off. */
  readonly book?: Pick<Book, 'result' | 'ended'>
  /** Reads what became of each result; absent if it is off. */
  readonly ledger?: Ledger
  /** What sessions have seen; absent if they have no effect. */
  readonly sessions?: Sessions
  /** Present if other processes share the sessions. */
  readonly sharing?: SessionSharing
}

export interface Rewriting {
  /** Larger bodies are forwarded unchanged. */
  readonly maxBytes: number
  /** Time after which a body is forwarded unchanged, in milliseconds. */
  readonly timeoutMs: number
  /** What steps of clearing leave and cost; absent: `CLEARING_TERMS`. */
  readonly clearing?: ClearingTerms
  /** How long a vendor's caches live; absent: it is not known. */
  readonly cacheLives?: (vendor: VendorName) => readonly CacheLife[]
  /** How results were written before. */
  readonly rewrites: Rewrites
  /** The memory of rewrites that all threads share. */
  readonly memory: Pick<RewriteMemory, 'place' | 'confirm'>
  /** The configurations that conversations keep. */
  readonly generations: KeptGenerations
  /** Draws arms, and counts what becomes of them; absent: all of it is treated. */
  readonly arms?: Pick<Arms, 'terms' | 'record' | 'beside'>
  /** Whether a tenant's requests are read at all now. */
  isOn(tenant: string): boolean
  /** Whether our tool is added to conversations that begin, and its calls are answered. */
  addsTool(): boolean
}

/** Configurations beside the newest. */
export interface KeptGenerations {
  /** Returns `null` if nothing has it any more. */
  find(tenant: string, id: string): Promise<Generation | null>
  /** Makes one durable. Never rejects. */
  keep(tenant: string, id: string): Promise<void>
}

/** The gateway of MCP, as its endpoints. */
export interface McpEndpoints {
  /**
   * What serves an endpoint to a caller.
   * @param server the only one that it offers; `null`: all
   * @returns `null` if there is no such server, or none at all
   */
  find(server: string | null, caller: Caller): HttpFront | null
}

/** What the app as a whole needs. */
export interface AppDeps extends JobDeps {
  readonly metrics: Metrics
  readonly logger: Logger
  readonly health: Health
  readonly desk: SessionDesk
  readonly access: Pick<
    Access,
    'identify' | 'allow' | 'resume' | 'digestOf' | 'records' | 'replace'
  >
  readonly tracing?: Pick<Tracing, 'request' | 'toolCall'>
  /** Vendors' APIs that the service forwards to. */
  readonly vendorProxies?: readonly VendorProxy[]
  /** Only the vendor proxies and what they saved are there, below this path: `/` and a secret. */
  readonly proxiesBelow?: string
  /** The user's secret, by which a service proves to hooks that it is theirs; absent: it cannot. */
  readonly secret?: Uint8Array
  /** How requests to the vendors are rewritten. */
  readonly rewriting?: Rewriting
  /** What the MCP gateway's clients share of calls that are made ahead. */
  readonly enrichment?: Enrichment<LandedResult>
  /** What models are told of packed results, beside them; absent: nothing. */
  readonly legend?: string
  /** How the pipeline chooses for a tenant, and which layer says so. */
  explainConfig(of: ConfigOf, query: ConfigQuery): Promise<ConfigAnswer>
  /** What elision does to the work of agents. */
  readonly arms: Pick<Arms, 'read' | 'settings'>
  /** What the proxies saved. */
  readonly savings: Omit<Savings, 'close'>
  readonly budgets: Pick<Budgets, 'read'>
  /** Reads what an answer used, while it passes. */
  observeUsage(route: RouteName): UsageObserver
  /** What endpoints are like, shared in teams and published. */
  readonly fingerprints?: Fingerprints
  /** Absent: no servers of MCP can be offered. */
  readonly mcp?: McpEndpoints
  /** Names, beside loopback's and addresses, by which clients reach the service. */
  allowedHosts(): readonly string[]
  /** Absent: there is no page. */
  readonly ui?: UiSource
}

/** What the page shows of the service beside its figures. */
export interface UiSource {
  /** Threads, queue and connections now. */
  readonly gauges: Pick<
    Gauges,
    'threads' | 'utilization' | 'jobsWaiting' | 'waitMs' | 'connections' | 'store'
  >
  readonly upstreams: readonly { readonly path: string; readonly host: string }[]
  /** What the passes of readers are signed with, and which were given back. */
  readonly passes: { readonly secret: Uint8Array; readonly ended: EndedPasses }
  /** Where keys can be added and revoked; absent: there are none. */
  readonly keysFile?: string
}
