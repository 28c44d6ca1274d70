import { defineActions } from './command.ts'
import { checkMcp, checkOptions } from './mcp-command/check.ts'
import { compactedOptions, noteCompacted } from './mcp-command/compacted.ts'
import { importOptions, importServers } from './mcp-command/import.ts'
import { loginMcp, loginOptions } from './mcp-command/login.ts'
import { logoutMcp } from './mcp-command/logout.ts'
import { mcpOptions } from './mcp-command/options.ts'
import { serveMcp, serveOptions } from './mcp-command/serve.ts'

const SERVER = { text: 'NAME', min: 1, max: 1 }

export const mcpCommand = defineActions({
  name: 'mcp',
  summary: 'Serve the MCP servers of the configuration to one agent, with smaller results',
  details:
    'Speaks MCP on stdin and stdout. The servers are those of [mcp.servers] in the TOML file ' +
    'that --config or HAVERSACK_CONFIG names. `login` gets a token for a server that has ' +
    'auth = { kind = "oauth" }; `logout` forgets it. `compacted` is for ' +
    'hooks: nothing that the agent was sent before is referred to again.',
  options: {
    ...mcpOptions,
    ...serveOptions,
    ...loginOptions,
    ...compactedOptions,
    ...checkOptions,
    ...importOptions,
  },
  run: serveMcp,
  actions: {
    login: { operands: SERVER, run: loginMcp },
    check: { run: checkMcp },
    import: { operands: { text: 'FILE', min: 1, max: 1 }, run: importServers },
    compacted: { operands: { text: '[CONTEXT]', min: 0, max: 1 }, run: noteCompacted },
    logout: { operands: SERVER, run: logoutMcp },
  },
})
