import type { Config } from '../../config/config.ts'
import { shippedModels } from '../../config/shipped-models.ts'
import { eligibilityOf, type ListedTool } from '../../core/enrich/eligibility.ts'
import { createModels } from '../../core/enrich/models.ts'
import { count } from '../../index.ts'
import type { ListEntry } from '../../mcp/catalogue/catalogue.ts'
import { type CheckedServer, serverVersion } from '../../mcp/check-server.ts'
import type { GatewayServer } from '../../mcp/gateway-options.ts'

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
export interface ServerReport {
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

export interface CheckReport {
  readonly servers: readonly ServerReport[]
  /** URIs that several servers list: the first of them answers. */
  readonly shared_uris: readonly { readonly uri: string; readonly servers: readonly string[] }[]
  /** Faults of the value models in the configuration. */
  readonly faults: readonly string[]
}

/** Makes the reports of servers by this configuration. */
export function createReporter({ mcp, tools: user }: Pick<Config, 'mcp' | 'tools'>) {
  const models = createModels({ shipped: shippedModels(), user })

  function toolOf(server: string, entry: ListEntry, tokens: number): CheckedTool {
    const tool: ListedTool = {
      name: entry.key,
      server,
      isTrusted: mcp.servers[server]?.trusted === true,
      annotations: annotationsOf(entry),
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
export function sharedUris(
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

function annotationsOf({ raw }: ListEntry): ListedTool['annotations'] {
  const { annotations } = JSON.parse(raw.toString()) as { annotations?: unknown }
  const isObject = typeof annotations === 'object' && annotations !== null
  return isObject ? (annotations as NonNullable<ListedTool['annotations']>) : undefined
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
