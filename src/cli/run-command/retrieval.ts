import { writeFileSync } from 'node:fs'
import { nameOf } from './agent-settings.ts'

/**
 * The name under which the agent knows our MCP server, and by which its permission is given. An
 * agent may have a gateway of its own that is called `haversack`.
 */
const SERVER = 'haversack_run'
const TOOL = `mcp__${SERVER}__haversack_retrieve`

/** What the tool is called in requests: all that fetches from the store of this one run. */
export const OWN_TOOLS: readonly string[] = [TOOL, `${SERVER}__haversack_retrieve`]

type CommandLine = readonly [string, ...string[]]

/** What an agent needs to know of the MCP server. */
export interface RetrievalServer {
  readonly url: string
  /** A file that does not exist yet, in a folder that only this user can read. */
  readonly configFile: string
}

/** Whether the options of this program for an MCP server are known. */
export function canRetrieve([program]: CommandLine): boolean {
  return nameOf(program) === 'claude' || nameOf(program) === 'codex'
}

/**
 * The command line of an agent with an MCP server, for this one run, from which its model can fetch
 * what the proxies left out. The agent's own configuration stays as it is.
 */
export function withRetrieval(
  command: CommandLine,
  { url, configFile }: RetrievalServer,
): CommandLine {
  const [program, ...args] = command
  if (nameOf(program) === 'claude') {
    // Other users can see command lines, and the URL is a secret.
    const servers = { mcpServers: { [SERVER]: { type: 'http', url } } }
    writeFileSync(configFile, JSON.stringify(servers), { mode: 0o600 })
    // With a space instead of `=`, each option would take the following arguments too.
    return [program, `--mcp-config=${configFile}`, `--allowedTools=${TOOL}`, ...args]
  }
  if (nameOf(program) === 'codex') {
    return [program, '-c', `mcp_servers.${SERVER}.url=${JSON.stringify(url)}`, ...args]
  }
  return command
}
