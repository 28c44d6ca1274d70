import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import { shippedModels } from '../../config/shipped-models.ts'
import { modelFaults } from '../../core/enrich/models.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { pinsOf } from '../../service/mcp/memory.ts'
import { askServers } from './ask-servers.ts'
import { type CheckReport, createReporter, sharedUris } from './check-report.ts'
import { checkText } from './check-text.ts'
import { loadMcpConfig } from './load-config.ts'
import type { McpValues } from './options.ts'

/** Connects to all configured servers, and prints what they are like. */
export async function checkMcp(values: McpValues): Promise<number> {
  const { config, env } = loadMcpConfig(values)
  const checked = await askServers(config, env)
  const report = createReporter(config)
  const servers = checked.map(({ server, found }) => ({
    ...report(server, found),
    ...(found.failure === null ? changedOf(server.name, found.tools, config, values.accept) : {}),
  }))
  const all: CheckReport = {
    servers,
    shared_uris: sharedUris(checked),
    faults: modelFaults({ shipped: shippedModels(), user: config.tools }),
  }
  process.stdout.write(`${values.json ? JSON.stringify(all) : checkText(all)}\n`)
  const isFine = all.faults.length === 0 && servers.every(isFineServer)
  return isFine ? EXIT.ok : EXIT.failed
}

/** What is mended for clients is a fault of the server all the same. */
function isFineServer({ failure, odd }: CheckReport['servers'][number]): boolean {
  return failure === null && odd.length === 0
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
