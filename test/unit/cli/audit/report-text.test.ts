import { expect, it } from 'vitest'
import { auditReport, auditText } from '../../../../src/cli/audit/command.ts'
import { definedTools } from '../../../../src/lab/audit/defined-tool.ts'
import { ToolUse } from '../../../../src/lab/audit/tool-use.ts'

const named = (...names: string[]) =>
  definedTools({ tools: names.map(name => ({ name, description: `Does ${name}.` })) })!

function textOf(names: string[], called: string[]): string {
  const use = new ToolUse()
  for (const tool of called) use.add({ tool, args: {} })
  return auditText(auditReport(named(...names), { use, tokens: {} }))
}

it('prints the settings of Claude Code without the built-in tools that no log called', () => {
  const names = ['Bash', 'Edit', 'Read', 'Workflow', 'mcp__github__get_me', 'haversack_retrieve']
  expect(textOf(names, ['Bash', 'Read', 'Edit'])).toContain('{"permissions":{"deny":["Workflow"]}}')
  expect(textOf(names, names)).not.toContain('permissions')
})

it('prints no settings for another agent, or without logs', () => {
  expect(textOf(['bash', 'edit', 'read', 'Workflow'], [])).not.toContain('permissions')
  const all = named('Bash', 'Edit', 'Read', 'Workflow')
  expect(auditText(auditReport(all, { use: null, tokens: {} }))).not.toContain('permissions')
})
