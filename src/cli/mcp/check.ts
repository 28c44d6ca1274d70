import { LOCAL } from '../../access/access.ts'
import type { Config } from '../../config/config.ts'
import { shippedModels } from '../../config/shipped-models.ts'
import { table } from '../../console/table.ts'
import { eligibilityOf, type ListedTool } from '../../core/enrich/eligibility.ts'
import { createModels, modelFaults } from '../../core/enrich/models.ts'
import { count } from '../../index.ts'
import type { ListEntry } from '../../mcp/catalogue/catalogue.ts'
import { toolFacts } from '../../mcp/catalogue/tool-facts.ts'
import { type CheckedServer, serverVersion } from '../../mcp/check-server.ts'
import type { GatewayServer } from '../../mcp/gateway-options.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { pinsOf } from '../../service/mcp/memory.ts'
import { askServers } from './ask-servers.ts'
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

/** One tool, as it costs and as it may be used. */
interface CheckedTool {
  readonly tool: string
  /** Tokens of its definition, which each request of an agent carries. */
  readonly tokens: number
  /** Whether it may be called ahead of the model. */
  readonly speculation: 'yes' | 'for known hosts' | 'no'
  /** Why not. */
  readonly because?: string
}

/** What is printed of one server; nothing of it is a secret of the configuration. */
interface ServerReport {
  readonly server: string
  readonly failure: string | null
  readonly era: string | null
  readonly protocol: string | null
  readonly version: string | null
  readonly auth: string
  readonly tools: readonly CheckedTool[]
  readonly definition_tokens: number
  readonly prompts: number
  readonly resources: number
  readonly templates: number
  /** Names that are listed twice: the first one is offered. */
  readonly doubled: readonly string[]
  /** What clients would refuse of its lists. */
  readonly odd: CheckedServer['odd']
  /** Pinned tools whose definitions changed, and those that were accepted now. */
  readonly withheld?: readonly string[]
  readonly accepted?: readonly string[]
  /** Only of a server that failed. */
  readonly last_errors?: string
}

interface CheckReport {
  readonly servers: readonly ServerReport[]
  /** URIs that several servers list: the first of them answers. */
  readonly shared_uris: readonly { readonly uri: string; readonly servers: readonly string[] }[]
  /** Faults of the value models in the configuration. */
  readonly faults: readonly string[]
}

/** Makes the reports of servers by this configuration. */
function createReporter({ mcp, tools: user }: Pick<Config, 'mcp' | 'tools'>) {
  const models = createModels({ shipped: shippedModels(), user })

  function toolOf(server: string, entry: ListEntry, tokens: number): CheckedTool {
    const tool: ListedTool = {
      name: entry.key,
      server,
      isTrusted: mcp.servers[server]?.trusted === true,
      annotations: toolFacts(entry.raw).annotations,
    }
    const found = models.find(entry.key, server)
    const eligibility = eligibilityOf(tool, found)
    const named = { tool: entry.key, tokens }
    if (eligibility.isEligible) {
      return { ...named, speculation: eligibility.checksHosts ? 'for known hosts' : 'yes' }
    }
    const { fault } = eligibility
    return { ...named, speculation: 'no', because: fault ?? whyNot(tool, found.forbiddenBy) }
  }

  return (server: GatewayServer, found: CheckedServer): ServerReport => {
    const { facts, failure, tools, prompts, resources, templates, odd, lastErrors } = found
    const contents = tools.map(({ raw }) => raw.toString())
    const tokens = contents.length === 0 ? [] : (count({ contents }).counts ?? [])
    const listed = tools.map((entry, i) => toolOf(server.name, entry, tokens[i] ?? 0))
    const names = tools.map(({ key }) => key)
    return {
      server: server.name,
      failure,
      era: facts?.era ?? null,
      protocol: facts?.protocolVersion ?? null,
      version: facts === null ? null : serverVersion(facts),
      auth: mcp.servers[server.name]?.auth.kind ?? 'none',
      tools: listed,
      definition_tokens: tokens.reduce((sum, each) => sum + each, 0),
      prompts: prompts.length,
      resources: resources.length,
      templates: templates.length,
      doubled: [...new Set(names.filter((name, i) => names.indexOf(name) !== i))],
      odd,
      ...(failure === null ? {} : { last_errors: lastErrors.slice(-4096) }),
    }
  }
}

/** URIs that more than one server lists. */
function sharedUris(
  checked: readonly { readonly server: GatewayServer; readonly found: CheckedServer }[],
): CheckReport['shared_uris'] {
  const byUri = new Map<string, string[]>()
  for (const { server, found } of checked) {
    for (const { key } of [...found.resources, ...found.templates]) {
      byUri.set(key, [...(byUri.get(key) ?? []), server.name])
    }
  }
  return [...byUri].flatMap(([uri, servers]) => (servers.length > 1 ? [{ uri, servers }] : []))
}

function whyNot({ isTrusted, annotations }: ListedTool, forbiddenBy: string | undefined): string {
  if (forbiddenBy !== undefined) return 'speculate = false'
  if (annotations?.destructiveHint === true) return 'it is annotated as destructive'
  if (!isTrusted) return 'its server is not trusted, and [tools] does not say that it only reads'
  if (annotations?.readOnlyHint === true && annotations.openWorldHint !== false) {
    return 'it may reach the open world, and [tools] does not list it'
  }
  return 'nothing says that it only reads'
}
