import type { RouteName } from '../parse/scan-request.ts'
import { OWN_TOOL } from './retrieving-answer.ts'

const DESCRIPTION =
  'Fetch what "> [elided: … hash=H]" left out, or "> [ref H …]" repeats. ' +
  'Ask for a part first (lines, grep, path). ' +
  'A line that begins with "\\> [" is content.'

const SCHEMA = {
  type: 'object',
  properties: {
    hash: { type: 'string', description: 'H of that line' },
    lines: { type: 'string', description: '40-80, 40- or -20' },
    grep: { type: 'string', description: 'Text that lines must contain' },
    context: { type: 'integer', description: 'Lines around each match' },
    ignore_case: { type: 'boolean' },
    path: { type: 'string', description: 'JSON path: $.items[3:9]; lines too' },
  },
  required: ['hash'],
}

/** The definition of our tool as JSON, always the same bytes; `undefined` for other routes. */
const DEFINITIONS: Readonly<Partial<Record<RouteName, string>>> = {
  anthropic_messages: JSON.stringify({
    name: OWN_TOOL,
    description: DESCRIPTION,
    input_schema: SCHEMA,
  }),
  openai_chat: JSON.stringify({
    type: 'function',
    function: { name: OWN_TOOL, description: DESCRIPTION, parameters: SCHEMA },
  }),
  openai_responses: JSON.stringify({
    type: 'function',
    name: OWN_TOOL,
    description: DESCRIPTION,
    parameters: SCHEMA,
    strict: false,
  }),
}

/** Returns the definition for requests of a route; `undefined` if it has none. */
export function retrieveDefinition(route: RouteName): string | undefined {
  return DEFINITIONS[route]
}
