import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import { shippedModels } from '../../config/shipped-models.ts'
import { table } from '../../console/table.ts'
import { modelFaults } from '../../core/enrich/models.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { pinsOf } from '../../service/mcp/memory.ts'
import { askServers } from './ask-servers.ts'
import { type CheckReport, createReporter, type ServerReport, sharedUris } from './check-report.ts'
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

/** Tools that are named with their tokens. */
const LARGEST = 10

function checkText({ servers, shared_uris, faults }: CheckReport): string {
  const rows = servers.map(each => [
    each.server,
    each.failure === null ? 'ok' : 'FAILED',
    each.era === null ? '' : `${each.era} ${each.protocol}`,
    each.auth,
    each.tools.length,
    each.definition_tokens,
    each.tools.filter(({ speculation }) => speculation !== 'no').length,
    each.prompts,
    each.resources + each.templates,
  ])
  const head = 'server,state,revision,auth,tools,tokens of tools,ahead,prompts,resources'
  return [
    table(head.split(','), rows),
    ...servers.flatMap(serverLines),
    ...largestTools(servers),
    ...shared_uris.map(
      ({ uri, servers: all }) => `${uri}: listed by ${all.join(', ')}; ${all[0]} answers`,
    ),
    ...faults,
  ].join('\n')
}

function serverLines(report: ServerReport): string[] {
  const { server, failure, last_errors = '', withheld = [], accepted = [], doubled, odd } = report
  const reasons = Map.groupBy(
    report.tools.filter(({ because }) => because !== undefined),
    ({ because }) => because,
  )
  return [
    ...(failure === null
      ? []
      : ['', `${server}: ${failure}`, ...(last_errors === '' ? [] : [last_errors.trimEnd()])]),
    ...doubled.map(tool => `${server}: lists ${tool} twice; the first one is offered`),
    ...odd.map(each => `${server}: ${oddText(each)}`),
    ...withheld.map(tool => `${server}: ${tool} is withheld, its definition changed (--accept)`),
    ...accepted.map(tool => `${server}: ${tool} is accepted as it is now`),
    ...[...reasons].map(
      ([why, tools]) =>
        `${server}: not ahead: ${tools.map(({ tool }) => tool).join(', ')} (${why})`,
    ),
  ]
}

function oddText({ kind, was, entry, members = [], reason }: ServerReport['odd'][number]): string {
  if (was === 'cut') return `its list of ${kind} was read in part: ${reason}`
  const what = `${kind}: ${JSON.stringify(entry)} is ${was}`
  return `${what}, since clients refuse its ${members.join(', ')} and with it the whole list`
}

function largestTools(servers: readonly ServerReport[]): string[] {
  const all = servers.flatMap(({ server, tools }) =>
    tools.map(({ tool, tokens }) => [server, tool, tokens] as const),
  )
  if (all.length === 0) return []
  const largest = all.sort((a, b) => b[2] - a[2]).slice(0, LARGEST)
  return ['', 'The largest definitions:', table(['server', 'tool', 'tokens'], largest)]
}
