import { writeFileSync } from 'node:fs'
import { stringify } from 'smol-toml'
import { definitionHash } from '../../mcp/memory/definition-hash.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { type DefinedTool, definedTool, definedTools } from '../../tune/audit/defined-tool.ts'
import { ToolUse } from '../../tune/audit/tool-use.ts'
import { listLogs } from '../../tune/logs/list-logs.ts'
import { noTally, readLog } from '../../tune/logs/read-log.ts'
import { type Options, UsageError, type ValuesOf } from '../command.ts'
import { readInput } from '../input.ts'
import { askServers } from '../mcp-command/ask-servers.ts'
import { loadMcpConfig } from '../mcp-command/load-config.ts'
import { configOptions } from '../mcp-command/options.ts'
import { jsonOption, tokenizerFieldsOf, tokenizerOptions } from '../options.ts'
import { type AuditReport, auditReport } from './report.ts'
import { auditText } from './report-text.ts'

export const auditOptions = {
  ...configOptions,
  ...tokenizerOptions,
  logs: {
    type: 'string',
    value: 'PATH',
    help: 'Logs of agents, a file or a folder: which tools and parameters they never used',
  },
  propose: {
    type: 'string',
    value: 'FILE',
    help: 'Write shorter descriptions as TOML, for the servers of the configuration',
  },
  ...jsonOption,
} as const satisfies Options

/** Prints what the definitions of tools cost. */
export async function auditTools(
  values: ValuesOf<typeof auditOptions>,
  files: readonly string[],
): Promise<number> {
  const { propose, logs } = values
  if (propose !== undefined && files.length > 0) {
    throw new UsageError('--propose is for the servers of the configuration, not for a FILE')
  }
  const { tools, areAll } =
    files.length === 0 ? await toolsOfServers(values) : await toolsOfFiles(files)
  const use = logs === undefined ? null : readUse(logs)
  const report = auditReport(tools, { use, tokens: tokenizerFieldsOf(values) })
  if (propose !== undefined) writeFileSync(propose, proposalToml(report))
  process.stdout.write(`${values.json ? JSON.stringify(report) : auditText(report)}\n`)
  return areAll ? EXIT.ok : EXIT.failed
}

interface ReadTools {
  readonly tools: readonly DefinedTool[]
  /** Whether every server gave its tools. */
  readonly areAll: boolean
}

async function toolsOfFiles(files: readonly string[]): Promise<ReadTools> {
  const tools: DefinedTool[] = []
  for (const file of files) {
    const found = definedTools(parsed(await readInput(file)))
    if (found === null) throw new Error(`${file} has no list of tools`)
    for (const item of found) tools.push(item)
  }
  return { tools, areAll: true }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null // reported as a file without tools
  }
}

async function toolsOfServers(values: ValuesOf<typeof configOptions>): Promise<ReadTools> {
  const { config, env } = loadMcpConfig(values)
  const asked = await askServers(config, env)
  const tools = asked.flatMap(({ server, found }) => {
    if (found.failure !== null) {
      process.stderr.write(`haversack: ${server.name}: ${found.failure}\n`)
    }
    return found.tools.flatMap(entry => {
      const raw = entry.raw.toString()
      const origin = { server: server.name, hash: definitionHash(entry), raw }
      const tool = definedTool(JSON.parse(raw), origin)
      return tool === null ? [] : [tool]
    })
  })
  return { tools, areAll: asked.every(({ found }) => found.failure === null) }
}

function readUse(path: string): ToolUse {
  const use = new ToolUse()
  const tally = noTally()
  const { files } = listLogs([path])
  if (files.length === 0) throw new UsageError(`--logs: ${path} has no logs`)
  for (const file of files) {
    for (const result of readLog(file.path, tally)) use.add(result)
  }
  return use
}

const HEAD = `# Shorter texts for definitions of tools, proposed by haversack audit tools.
# Read each of them before you copy it. It is used only while the definition has this hash.
`

/** The shorter texts as they stand in a configuration. */
function proposalToml({ tools }: Pick<AuditReport, 'tools'>): string {
  const tables = tools.flatMap(({ server, tool, hash, tokens, shorter }) => {
    if (shorter === undefined || server === null || hash === null) return []
    const { description, parameters, steps } = shorter
    const hasParameters = Object.keys(parameters).length > 0
    const text = { hash, description, ...(hasParameters ? { parameters: { ...parameters } } : {}) }
    const settings = { mcp: { servers: { [server]: { texts: { [tool]: text } } } } }
    const what = `# ${tokens} tokens, then ${shorter.tokens}: without ${steps.join(', without ')}`
    return [`\n${what}\n${stringify(settings)}`]
  })
  return HEAD + tables.join('')
}
