import { type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import { jsonOption, tokenizerFieldsOf, tokenizerOptions } from '../../console/options.ts'
import { type DefinedTool, definedTool, definedTools } from '../../lab/audit/defined-tool.ts'
import { ToolUse } from '../../lab/audit/tool-use.ts'
import { listLogs } from '../../lab/logs/list-logs.ts'
import { noTally, readLog } from '../../lab/logs/read-log.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { askServers } from '../mcp/ask-servers.ts'
import { loadMcpConfig } from '../mcp/load-config.ts'
import { configOptions } from '../mcp/options.ts'
import { auditReport } from './report.ts'
import { auditText } from './report-text.ts'

export const auditOptions = {
  ...configOptions,
  ...tokenizerOptions,
  logs: {
    type: 'string',
    value: 'PATH',
    help: 'Logs of agents, a file or a folder: which tools and parameters they never used',
  },
  ...jsonOption,
} as const satisfies Options

/** Prints what the definitions of tools cost. */
export async function auditTools(
  values: ValuesOf<typeof auditOptions>,
  files: readonly string[],
): Promise<number> {
  const { logs } = values
  const { tools, areAll } =
    files.length === 0 ? await toolsOfServers(values) : await toolsOfFiles(files)
  const use = logs === undefined ? null : readUse(logs)
  const report = auditReport(tools, { use, tokens: tokenizerFieldsOf(values) })
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
      const tool = definedTool(JSON.parse(entry.raw.toString()), server.name)
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
