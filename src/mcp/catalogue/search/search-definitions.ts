import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { jsonBytes } from '../../json-rpc.ts'
import type { PublicEntry } from '../catalogue.ts'

/** What one of our three tools does. */
export type SearchRole = 'find' | 'read' | 'call'

/** The names that they have unless a server has them: then they end with a number. */
export const SEARCH_NAMES: Readonly<Record<SearchRole, string>> = {
  find: 'find_tools',
  read: 'call_read_tool',
  call: 'call_tool',
}

/** Above this the servers are named with their counts. */
const MOST_NAMES = 400

// Claude Code would hide them until the model searches for them.
const ALWAYS = { _meta: { 'anthropic/alwaysLoad': true } }

const CALL_SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, arguments: { type: 'object' } },
  required: ['name'],
}

/**
 * The definitions of our three tools, by their names.
 * @param names what they are called for this client
 * @param tools that are not in the list, sorted by their public names
 */
export function searchDefinitions(
  names: Readonly<Record<SearchRole, string>>,
  tools: readonly PublicEntry[],
): ReadonlyMap<string, JsonBytes> {
  const definitions = [
    {
      name: names.find,
      description:
        `Finds tools that are not listed, by names (with commas) or by words, and returns their ` +
        `definitions. Call them with ${names.read} or ${names.call}.\n${overview(tools)}`,
      inputSchema: {
        type: 'object',
        properties: {
          query: { type: 'string' },
          limit: { type: 'integer', description: 'Definitions, 5 if absent' },
        },
        required: ['query'],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
      ...ALWAYS,
    },
    {
      name: names.read,
      description: `Calls a tool that only reads. ${names.find} returns its arguments.`,
      inputSchema: CALL_SCHEMA,
      annotations: { readOnlyHint: true },
      ...ALWAYS,
    },
    {
      name: names.call,
      description: `Calls a tool that may change something. ${names.find} returns its arguments.`,
      inputSchema: CALL_SCHEMA,
      annotations: { readOnlyHint: false, destructiveHint: true },
      ...ALWAYS,
    },
  ]
  return new Map(definitions.map(each => [each.name, jsonBytes(each)]))
}

/** A line for each server: the names of its tools without the server's prefix, or how many. */
function overview(tools: readonly PublicEntry[]): string {
  const byServer = Map.groupBy(tools, ({ server }) => server)
  const lines = [...byServer].map(([server, own]) => {
    const prefix = `${server}__`
    const names = own.map(({ publicKey }) =>
      publicKey.startsWith(prefix) ? publicKey.slice(prefix.length) : publicKey,
    )
    return `${server}: ${tools.length > MOST_NAMES ? `${own.length} tools` : names.join(', ')}`
  })
  return lines.join('\n')
}
