import { defineActions, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import { jsonOption, tokenizerFieldsOf, tokenizerOptions } from '../../console/options.ts'
import { table } from '../../console/table.ts'
import { count } from '../../index.ts'
import { type DefinedTool, definedTool, definedTools } from '../../lab/audit/defined-tool.ts'
import { type RepeatedSentence, repeatedSentences } from '../../lab/audit/sentences.ts'
import { ToolUse } from '../../lab/audit/tool-use.ts'
import { listLogs } from '../../lab/logs/list-logs.ts'
import { noTally, readLog } from '../../lab/logs/read-log.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { askServers } from '../mcp/ask-servers.ts'
import { loadMcpConfig } from '../mcp/load-config.ts'
import { configOptions } from '../mcp/options.ts'

const auditOptions = {
  ...configOptions,
  ...tokenizerOptions,
  logs: {
    type: 'string',
    value: 'PATH',
    help: 'Logs of agents, a file or a folder: which tools and parameters they never used',
  },
  ...jsonOption,
} as const satisfies Options

export const auditCommand = defineActions({
  name: 'audit',
  details:
    'The tools are those of recorded requests or answers to tools/list, each a JSON file; ' +
    'without FILE, those of the MCP servers in the configuration. Nothing is changed.',
  examples: ['audit tools request.json'],
  options: auditOptions,
  actions: { tools: { operands: { text: '[FILE …]', min: 0, max: Infinity }, run: auditTools } },
})

/** Prints what the definitions of tools cost. */
async function auditTools(
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

/** Rows of each table. */
const LONGEST = 20

/** Characters of a sentence that are shown. */
const SHOWN = 70

/** The report for people. */
export function auditText(report: AuditReport): string {
  const { tools, tokens, tokenizer, exact, repeated } = report
  const counted = exact ? tokenizer : `${tokenizer}, estimated`
  return [
    `${tools.length} tools: ${tokens.toLocaleString('en-US')} tokens in each request (${counted})`,
    '',
    ...toolLines(tools),
    ...repeatedLines(repeated),
    ...unusedLines(tools),
    ...denyLines(tools),
  ].join('\n')
}

function toolLines(tools: readonly AuditedTool[]): string[] {
  const hasCalls = tools.some(({ calls }) => calls !== undefined)
  const head = ['tool', 'tokens', 'description', 'parameters', 'schema']
  const rows = tools.slice(0, LONGEST).map(each => {
    const { tokens, description_tokens, parameter_tokens } = each
    const rest = Math.max(0, tokens - description_tokens - parameter_tokens)
    const calls = hasCalls ? [each.calls ?? 0] : []
    return [nameOf(each), tokens, description_tokens, parameter_tokens, rest, ...calls]
  })
  const more = tools.length - rows.length
  return [
    table([...head, ...(hasCalls ? ['calls'] : [])], rows),
    ...(more > 0 ? [`and ${more} smaller ones`] : []),
  ]
}

function repeatedLines(repeated: AuditReport['repeated']): string[] {
  if (repeated.length === 0) return []
  const rows = repeated.slice(0, LONGEST).map(({ sentence, times, tokens }) => {
    const shown = sentence.length > SHOWN ? `${sentence.slice(0, SHOWN)}…` : sentence
    return [times, tokens, shown]
  })
  return ['', 'Sentences that are repeated:', table(['times', 'tokens', 'sentence'], rows)]
}

function unusedLines(tools: readonly AuditedTool[]): string[] {
  const never = tools.filter(({ calls }) => calls === 0)
  const unused = tools.filter(({ unused_parameters: names = [] }) => names.length > 0)
  const tokens = never.reduce((sum, each) => sum + each.tokens, 0)
  return [
    ...(never.length === 0
      ? []
      : ['', `Never called in the logs, ${tokens} tokens: ${never.map(nameOf).join(', ')}`]),
    ...(unused.length === 0 ? [] : ['', 'Parameters that no call had:']),
    ...unused.map(each => `  ${nameOf(each)}: ${each.unused_parameters?.join(', ')}`),
  ]
}

/** Names of which all are tools of Claude Code alone. */
const CLAUDE_CODE = ['Bash', 'Edit', 'Read'] as const
/** Its own tools; those of MCP servers have a prefix. */
const BUILT_IN = /^[A-Z][A-Za-z]*$/

/** The line of Claude Code's own settings that removes what the logs never called. */
function denyLines(tools: readonly AuditedTool[]): string[] {
  const recorded = tools.filter(({ server }) => server === null)
  const names = new Set(recorded.map(({ tool }) => tool))
  if (!CLAUDE_CODE.every(name => names.has(name))) return []
  const never = recorded.filter(({ tool, calls }) => calls === 0 && BUILT_IN.test(tool))
  if (never.length === 0) return []
  const tokens = never.reduce((sum, each) => sum + each.tokens, 0)
  const deny = { permissions: { deny: never.map(({ tool }) => tool) } }
  return [
    '',
    `Claude Code sends ${tokens} tokens less with this in ~/.claude/settings.json:`,
    `  ${JSON.stringify(deny)}`,
  ]
}

function nameOf({ server, tool }: AuditedTool): string {
  return server === null ? tool : `${server}: ${tool}`
}

/** One tool; its tokens are those of what a model is given of its definition. */
interface AuditedTool {
  readonly server: string | null
  readonly tool: string
  readonly tokens: number
  /** Tokens of the tool's own description, and of those of its parameters. */
  readonly description_tokens: number
  readonly parameter_tokens: number
  /** In the logs; absent without logs. */
  readonly calls?: number
  readonly unused_parameters?: readonly string[]
}

interface AuditReport {
  readonly tokenizer: string
  readonly exact: boolean
  readonly tokens: number
  readonly tools: readonly AuditedTool[]
  /** Tokens of a sentence each time after its first. */
  readonly repeated: readonly (RepeatedSentence & { readonly tokens: number })[]
}

interface AuditOptions {
  /** `null` without logs. */
  readonly use: ToolUse | null
  readonly tokens: { readonly tokenizer?: string; readonly model?: string }
}

/** What definitions cost, the most expensive first. */
export function auditReport(
  tools: readonly DefinedTool[],
  { use, tokens: tokenizer }: AuditOptions,
): AuditReport {
  const answer = count({ contents: [''], ...tokenizer })
  const tokensOf = (text: string) => count({ contents: [text], ...tokenizer }).counts?.[0] ?? 0
  const audited = tools.map((tool): AuditedTool => {
    const texts = tool.parameters.map(({ description }) => description).join('\n')
    return {
      server: tool.server,
      tool: tool.tool,
      tokens: tokensOf(tool.sent),
      description_tokens: tokensOf(tool.description),
      parameter_tokens: tokensOf(texts),
      ...(use === null ? {} : { calls: use.calls(tool.tool) }),
      ...(use === null ? {} : { unused_parameters: use.unusedParameters(tool) }),
    }
  })
  const repeated = repeatedSentences(tools).map(each => {
    return { ...each, tokens: (each.times - 1) * tokensOf(each.sentence) }
  })
  return {
    tokenizer: answer.tokenizer,
    exact: answer.exact,
    tokens: audited.reduce((sum, { tokens }) => sum + tokens, 0),
    tools: audited.sort((a, b) => b.tokens - a.tokens),
    repeated: repeated.sort((a, b) => b.tokens - a.tokens),
  }
}
