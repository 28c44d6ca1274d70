import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import { modelFaults } from '../../core/enrich/models.ts'
import { checkServer } from '../../mcp/check-server.ts'
import { createLogger } from '../../observability/logger.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { configuredServers, pinsOf } from '../../service/mcp-servers.ts'
import { type Options, UsageError, type ValuesOf } from '../command.ts'
import { jsonOption } from '../options.ts'
import { type CheckReport, createReporter, sharedUris } from './check-report.ts'
import { checkText } from './check-text.ts'
import { loadMcpConfig, type mcpOptions } from './options.ts'

export const checkOptions = {
  accept: {
    type: 'boolean',
    actions: ['check'],
    help: 'accept the definitions of tools as they are now, where they are pinned',
  },
  ...jsonOption,
} as const satisfies Options

/** What one server may take, in milliseconds. */
const LIMIT_MS = 30_000

/** Connects to all configured servers, and prints what they are like. */
export async function checkMcp(
  values: ValuesOf<typeof mcpOptions & typeof checkOptions>,
): Promise<number> {
  const { config, env } = loadMcpConfig(values)
  if (Object.keys(config.mcp.servers).length === 0) {
    throw new UsageError('the configuration has no [mcp.servers]')
  }
  const needs = { env, logger: createLogger('silent'), tenant: LOCAL.tenant }
  const checked = await Promise.all(
    configuredServers(config, needs).map(async server => ({
      server,
      found: await checkServer(server, LIMIT_MS),
    })),
  )
  const report = createReporter(config)
  const servers = checked.map(({ server, found }) => ({
    ...report(server, found),
    ...(found.failure === null ? changedOf(server.name, found.tools, config, values.accept) : {}),
  }))
  const all: CheckReport = {
    servers,
    shared_uris: sharedUris(checked),
    faults: modelFaults(config.tools),
  }
  process.stdout.write(`${values.json ? JSON.stringify(all) : checkText(all)}\n`)
  const isFine = all.faults.length === 0 && servers.every(({ failure }) => failure === null)
  return isFine ? EXIT.ok : EXIT.failed
}

/** Tools of a pinned server that are not as they were accepted; accepts them if that is asked. */
function changedOf(
  name: string,
  tools: Parameters<ReturnType<typeof pinsOf>['accept']>[0],
  config: Config,
  accepts: boolean,
) {
  const server = config.mcp.servers[name]
  if (server?.pin !== true) return {}
  const pins = pinsOf(name, server, { dataDir: config.data_dir, tenant: LOCAL.tenant })
  if (accepts) return { accepted: [...pins.accept(tools)] }
  const offered = new Set(pins.accepted(tools).map(({ key }) => key))
  return { withheld: tools.map(({ key }) => key).filter(key => !offered.has(key)) }
}
