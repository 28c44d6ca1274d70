import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { LOCAL } from '../access/access.ts'
import type { Config } from '../config/config.ts'
import type { Env } from '../config/env.ts'
import type { McpServerConfig } from '../config/mcp.ts'
import { createOfferReader } from '../mcp/enriched/offer-reader.ts'
import { createGateway, type Gateway } from '../mcp/gateway.ts'
import type { GatewayClient, GatewayOptions, GatewayServer } from '../mcp/gateway-options.ts'
import { jsonBytes } from '../mcp/json-rpc.ts'
import { createPacker } from '../mcp/pack.ts'
import { serveStdio } from '../mcp/stdio-front.ts'
import { connectUpstream } from '../mcp/upstream/connect-upstream.ts'
import type { ServerTarget } from '../mcp/upstream/options.ts'
import type { Verdicts } from '../mcp/upstream/verdicts.ts'
import type { Logger } from '../observability/logger.ts'
import { VERSION } from '../runtime/version.ts'
import { type EmbeddedService, startEmbedded } from './embedded.ts'

export interface GatewayRun {
  readonly env: Env
  readonly logger: Logger
  readonly input: Readable
  readonly output: Writable
  /** Ends it from outside. */
  readonly stop: AbortSignal
}

/** What packing may take of a call, in milliseconds; after that the result goes on unchanged. */
const PACK_MS = 5_000

/** Words of events that are worth a warning. */
const WARNED: ReadonlySet<string> = new Set(['lost', 'unlisted'])

/**
 * Serves the configured MCP servers to one client on a pair of streams, until its input ends.
 * @throws what keeps the service from starting, and Error for a secret that is not there
 */
export async function runGateway(config: Config, run: GatewayRun): Promise<void> {
  const { env, logger, input, output, stop } = run
  // A local client needs no key.
  const { keys_file: _, ...open } = config
  const { limits } = config
  const service = await startEmbedded({ ...open, limits: { ...limits, drain_grace_ms: 0 } }, logger)
  try {
    const gatewayFor = gatewayFactory(config, service.deps, { env, logger })
    await serveStdio(input, output, { stop, version: VERSION, createGateway: gatewayFor })
  } finally {
    await service.close()
  }
}

/**
 * Makes the gateway of each client, with connections of its own to the configured servers.
 * @throws Error for a secret that is not there
 */
export function gatewayFactory(
  config: Config,
  { pool, originals, metrics, telemetry, enrichment: shared }: EmbeddedService['deps'],
  { env, logger }: Pick<GatewayRun, 'env' | 'logger'>,
): (client: GatewayClient) => Gateway {
  const verdicts: Verdicts = new Map()
  const servers = Object.entries(config.mcp.servers).map(([name, server]) =>
    gatewayServer(name, server, { env, logger, verdicts }),
  )
  const { tenant } = LOCAL
  const onBug = (err: unknown) => logger.error({ err }, 'unexpected error')
  const pack = createPacker({
    pool,
    originals,
    tenant,
    timeoutMs: PACK_MS,
    onReport(report) {
      metrics.report(report)
      if (report.response !== undefined) telemetry?.record(tenant, report.response)
    },
    onBug,
  })
  const read = createOfferReader({ pool, tenant, timeoutMs: PACK_MS, onBug })
  const enrichment = shared === undefined ? {} : { enrichment: { shared, read, onBug } }
  const onServer: GatewayOptions['onServer'] = (server, event, detail = {}) => {
    const fields = { server, ...detail }
    if (event === 'bug') logger.error(fields, 'unexpected error')
    else if (WARNED.has(event)) logger.warn(fields, `server ${event}`)
    else logger.info(fields, `server ${event}`)
  }
  const common = {
    servers,
    tenant,
    pack,
    originals,
    alwaysRetrieves: false,
    onServer,
    ...enrichment,
  }
  return client => createGateway({ ...common, client })
}

interface ServerNeeds {
  readonly env: Env
  readonly logger: Logger
  readonly verdicts: Verdicts
}

function gatewayServer(
  name: string,
  config: McpServerConfig,
  { env, logger, verdicts }: ServerNeeds,
): GatewayServer {
  const { mode, budget_tokens, structured, timeout_ms, trusted, tools } = config
  const target = targetOf(config, env)
  return {
    name,
    settings: { mode, budget_tokens, structured, timeout_ms, trusted, ...tools },
    connect: (client, listener) =>
      connectUpstream({
        name,
        target,
        claims: { capabilities: client.capabilities, clientInfo: client.info ?? OWN_INFO },
        listener,
        verdicts,
        verdictKey: name,
        log: (event, fields) => logger.debug({ ...fields }, `server ${event}`),
      }),
  }
}

/** What servers are told of a client that does not name itself. */
const OWN_INFO = jsonBytes({ name: 'haversack', version: VERSION })

function targetOf(config: McpServerConfig, env: Env): ServerTarget {
  const { url, command, args, cwd = null, auth } = config
  const read = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, text]) => [key, secretOf(text, env)]))
  if (command !== undefined) {
    return { kind: 'stdio', command, args, env: read(config.env), cwd, processEnvironment: env }
  }
  const headers = auth.kind === 'headers' ? read(auth.headers) : {}
  return { kind: 'http', url: new URL(url as string), headers: () => headers }
}

/** The text itself, or what it names: `env:NAME`, `file:PATH`. */
function secretOf(text: string, env: Env): string {
  if (text.startsWith('file:')) return readFileSync(text.slice('file:'.length), 'utf8').trim()
  if (!text.startsWith('env:')) return text
  const value = env[text.slice('env:'.length)]
  if (value === undefined) throw new Error(`${text}: there is no such variable`)
  return value
}
