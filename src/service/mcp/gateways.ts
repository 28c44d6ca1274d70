import type { Origin } from '../../book/rows/day-sums.ts'
import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { leavesOutByLevel, legendOf, readPipelineConfig } from '../../config/pipeline.ts'
import { AGENT_PROGRAMS } from '../../core/base/agent-programs.ts'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import { reportResult } from '../../http/jobs/report-results.ts'
import { createOfferReader } from '../../mcp/ahead/offer-reader.ts'
import { ListRoom } from '../../mcp/catalogue/lists/list-room.ts'
import { openLearnedTools } from '../../mcp/catalogue/search/learned-tools.ts'
import { statedReadOnly } from '../../mcp/catalogue/stated-read-only.ts'
import { readCompactions } from '../../mcp/client/contexts/compactions.ts'
import { type Contexts, createContexts } from '../../mcp/client/contexts/contexts.ts'
import type { ForwardedHeaders } from '../../mcp/client/forwarded-headers.ts'
import { composedTools } from '../../mcp/composed/composed-tool.ts'
import { createGateway, type Gateway } from '../../mcp/gateway.ts'
import type { GatewayClient, GatewayOptions } from '../../mcp/gateway-options.ts'
import { createPacker, type Pack } from '../../mcp/results/pack.ts'
import type { ChildPlaces } from '../../mcp/upstream/child-places.ts'
import type { Logger } from '../../observability/logger.ts'
import type { EmbeddedDeps } from '../embedded/embedded-deps.ts'
import { openVault } from './authorization.ts'
import { configuredServer } from './servers.ts'

/**
 * How long the packing of a call's result may take, in milliseconds. After that the result is
 * passed on unchanged.
 */
const PACK_MS = 5_000

/** Words of events that are worth a warning. */
const WARNED: ReadonlySet<string> = new Set([
  ...['lost', 'unlisted', 'changed', 'withheld', 'mended', 'left out', 'cut', 'list without room'],
])

/** What the gateways of all clients share. */
export interface GatewayNeeds {
  readonly deps: EmbeddedDeps
  readonly env: Env
  readonly logger: Logger
  /** Counts the processes of all servers. */
  readonly places: ChildPlaces
  /** Whether there are many clients. */
  readonly isService: boolean
}

/** Whose gateway it is, and what it offers. */
export interface GatewayTerms {
  readonly tenant: string
  /** The key of the client; `null` if it needs none. */
  readonly credential: string | null
  /** The project that the key or the client names. */
  readonly project?: string | undefined
  /** Headers of its requests that go on to servers; `null` if none do. */
  readonly forwarded: ForwardedHeaders | null
  /** The only server; `null`: all. */
  readonly only: string | null
  /** Whether `haversack_retrieve` is offered even if nothing seems to need it. */
  readonly alwaysRetrieves: boolean
}

/** Makes the gateways of clients, by one configuration. */
export interface Gateways {
  /** The configured servers. */
  readonly servers: Config['mcp']['servers']
  create(client: GatewayClient, terms: GatewayTerms): Gateway
  /** No more clients come: a connection ends with its last client. */
  retire(): void
  close(): Promise<void>
}

/** @throws Error for a secret that is not there */
export function createGateways(config: Config, needs: GatewayNeeds): Gateways {
  const { deps, logger } = needs
  const { originals, metrics, tracing } = deps
  const configured = Object.entries(config.mcp.servers)
  const needsVault = configured.some(([, { auth }]) => auth.kind === 'oauth')
  const vault = needsVault ? openVault(config) : null
  const serverNeeds = { ...needs, metrics, vault, dataDir: config.data_dir }
  const all = configured.map(([name, server]) => configuredServer(name, server, serverNeeds))
  const composed = composedTools(config.mcp.composed, config.tools)
  const isStatedReadOnly = statedReadOnly(config.tools)
  const contextsFor = contextsByKey(config, deps)
  const room = new ListRoom()
  const inForce = readPipelineConfig(config)
  const hasLevels = leavesOutByLevel(inForce)
  const legend = legendOf(inForce)
  const onServer: GatewayOptions['onServer'] = (server, event, detail = {}) => {
    const fields = { server, ...detail }
    if (event === 'bug') logger.error(fields, 'unexpected error')
    else if (WARNED.has(event)) logger.warn(fields, `server ${event}`)
    else logger.info(fields, `server ${event}`)
  }
  return {
    servers: config.mcp.servers,
    create(client, { tenant, credential, forwarded, only, project, ...terms }) {
      const alwaysRetrieves = terms.alwaysRetrieves || hasLevels
      const servers = all
        .filter(({ name }) => only === null || name === only)
        .map(server => server.of(tenant, forwarded))
      const contexts = contextsFor(tenant, credential)
      const learned = openLearnedTools({
        dataDir: config.data_dir,
        tenant,
        credential,
        client: client.name ?? '',
        now: Date.now,
        onFailure: err => logger.warn({ err }, 'calls were not noted'),
      })
      return createGateway({
        servers,
        search: { ...config.mcp.search, isStatedReadOnly, learned },
        composed,
        tenant,
        client,
        originals,
        alwaysRetrieves,
        onServer,
        room,
        pack: packerFor(tenant, { project, ...agentNamed(client.name) }, needs),
        onToolCall(call) {
          metrics.mcp.call(call.server, call.outcome)
          metrics.mcp.added(call.server, call.totalMs - call.upstreamMs)
          tracing?.toolCall({ ...call, tenant, traceparent: call.traceparent() ?? undefined })
        },
        ...(contexts === undefined ? {} : { contexts }),
        ...(legend === undefined ? {} : { legend }),
        ...enrichmentFor(tenant, needs),
      })
    },
    retire() {
      for (const server of all) server.retire()
    },
    async close() {
      await Promise.all(all.map(server => server.close()))
      vault?.close()
    },
  }
}

/** The agent that a client is, by the name of its `clientInfo`. */
function agentNamed(name: string | null): Origin {
  const agent = AGENT_PROGRAMS.find(each => name?.toLowerCase().includes(each.name))?.name
  return { ...(agent && { agent }), ...(name && { client: name }) }
}

function packerFor(tenant: string, origin: Origin, { deps, logger }: GatewayNeeds): Pack {
  const { pool, originals, sessions, metrics, book } = deps
  return createPacker({
    pool,
    originals,
    sessions,
    tenant,
    timeoutMs: PACK_MS,
    onReport(report, server) {
      const arrival = { tenant, source: 'mcp', origin }
      const row = reportResult(report, arrival, { metrics, book })
      metrics.mcp.tokens(server, row?.tokens.before ?? 0, row?.tokens.after ?? 0)
    },
    onBug: err => logger.error({ err }, 'unexpected error'),
  })
}

/** Absent if the service has none. */
function enrichmentFor(
  tenant: string,
  { deps: { pool, enrichment: shared }, logger }: GatewayNeeds,
): Pick<GatewayOptions, 'enrichment'> {
  if (shared === undefined) return {}
  const onBug = (err: unknown) => logger.error({ err }, 'unexpected error')
  const read = createOfferReader(pool, { tenant, limitMs: PACK_MS }, onBug)
  return { enrichment: { shared, read, onBug } }
}

/** Keys and forwarded credentials whose contexts are remembered. */
const MOST_KEYS = 10_000

/** The contexts of each key, which its clients share. */
function contextsByKey(
  { data_dir }: Pick<Config, 'data_dir'>,
  { sessions }: Pick<EmbeddedDeps, 'sessions'>,
): (tenant: string, credential: string | null) => Contexts | undefined {
  if (sessions === undefined) return () => undefined
  const { index } = sessions
  const byKey = new BoundedMap<string, Contexts>(MOST_KEYS)
  const compactions = readCompactions(data_dir)
  return (tenant, credential) => {
    const key = `${tenant} ${credential ?? ''}`
    const known = byKey.get(key)
    if (known !== undefined) return known
    const contexts = createContexts({ index, tenant, credential, compactions, now: Date.now })
    byKey.set(key, contexts)
    return contexts
  }
}
