import { defineActions } from './command.ts'
import { loginMcp, loginOptions } from './mcp-command/login.ts'
import { logoutMcp } from './mcp-command/logout.ts'
import { mcpOptions } from './mcp-command/options.ts'
import { serveMcp } from './mcp-command/serve.ts'

const SERVER = { text: 'NAME', min: 1, max: 1 }

export const mcpCommand = defineActions({
  name: 'mcp',
  summary: 'Serve the MCP servers of the configuration to one agent, with smaller results',
  details:
    'Speaks MCP on stdin and stdout. The servers are those of [mcp.servers] in the TOML file ' +
    'that --config or HAVERSACK_CONFIG names. `login` gets a token for a server that has ' +
    'auth = { kind = "oauth" }; `logout` forgets it.',
  options: { ...mcpOptions, ...loginOptions },
  run: serveMcp,
  actions: {
    login: { operands: SERVER, run: loginMcp },
    logout: { operands: SERVER, run: logoutMcp },
  },
})
