import { basename } from 'node:path'

/** The name under which the agent knows our MCP server, and by which its permission is given. */
const SERVER = 'haversack'
const TOOL = `mcp__${SERVER}__haversack_retrieve`

type CommandLine = readonly [string, ...string[]]

/**
 * The command line of an agent with an MCP server, for this one run, from which its model can fetch
 * what the proxies left out. The agent's own configuration stays as it is.
 * @param url of the MCP server
 * @returns `null` for a program whose options for that are not known
 */
export function withRetrieval([program, ...args]: CommandLine, url: string): CommandLine | null {
  const name = basename(program).replace(/\.(?:exe|cmd)$/, '')
  if (name === 'claude') {
    const servers = JSON.stringify({ mcpServers: { [SERVER]: { type: 'http', url } } })
    // With a space instead of `=` each would take what comes after it too.
    return [program, `--mcp-config=${servers}`, `--allowedTools=${TOOL}`, ...args]
  }
  if (name === 'codex') {
    return [program, '-c', `mcp_servers.${SERVER}.url=${JSON.stringify(url)}`, ...args]
  }
  return null
}
