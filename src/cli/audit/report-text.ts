import { table } from '../../console/table.ts'
import type { AuditedTool, AuditReport } from './report.ts'

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
