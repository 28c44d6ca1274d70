import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import { modelFaults } from '../../core/enrich/models.ts'
import { checkServer } from '../../mcp/check-server.ts'
import { ChildPlaces } from '../../mcp/upstream/child-places.ts'
import { createLogger } from '../../observability/logger.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { openVault } from '../../service/mcp-authorization.ts'
import { pinsOf } from '../../service/mcp-memory.ts'
import { configuredServer } from '../../service/mcp-servers.ts'
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

const UNMEASURED = { connected() {}, disconnected() {}, listChanged() {} }

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
  const needs = {
    env,
    logger: createLogger('silent'),
    metrics: { mcp: UNMEASURED },
    vault: openVault(config),
    places: new ChildPlaces(),
    isService: false,
    dataDir: config.data_dir,
  }
  const checked = await Promise.all(
    Object.entries(config.mcp.servers).map(async ([name, terms]) => {
      const configured = configuredServer(name, terms, needs)
      const server = configured.of(LOCAL.tenant, null)
      const found = await checkServer(server, LIMIT_MS)
      await configured.close()
      return { server, found }
    }),
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
  const { tenant } = LOCAL
  const pins = pinsOf({ tenant, name, config: server }, config.data_dir)
  if (accepts) return { accepted: [...pins.accept(tools)] }
  const offered = new Set(pins.accepted(tools).map(({ key }) => key))
  return { withheld: tools.map(({ key }) => key).filter(key => !offered.has(key)) }
}
