import { defineActions } from '../../console/command.ts'
import { auditOptions, auditTools } from './tools.ts'

export const auditCommand = defineActions({
  name: 'audit',
  details:
    'The tools are those of recorded requests or answers to tools/list, each a JSON file; ' +
    'without FILE, those of the MCP servers in the configuration. Nothing is changed.',
  examples: ['audit tools request.json'],
  options: auditOptions,
  actions: { tools: { operands: { text: '[FILE …]', min: 0, max: Infinity }, run: auditTools } },
})
