import { defineActions } from '../../console/command.ts'
import { type McpValues, mcpOptions } from './options.ts'

const SERVER = { text: 'NAME', min: 1, max: 1 }

type McpRun = (values: McpValues, operands: readonly string[]) => Promise<number> | number

/** An action that is loaded when it is called. */
function lazy(load: () => Promise<McpRun>): McpRun {
  return async (values, operands) => (await load())(values, operands)
}

const serve = lazy(async () => (await import('./serve.ts')).serveMcp)
const bridge = lazy(async () => (await import('./bridge.ts')).bridgeMcp)

export const mcpCommand = defineActions({
  name: 'mcp',
  outlivesReader: true,
  details:
    'Speaks MCP on stdin and stdout. The servers are those of [mcp.servers] in the TOML file ' +
    'that --config or HAVERSACK_CONFIG names, or those of the service that --service names. ' +
    '`login` gets a token for a server that has ' +
    'auth = { kind = "oauth" }; `logout` forgets it. `compacted` is for ' +
    'hooks: nothing that the agent was sent before is referred to again.',
  examples: ['mcp --config haversack.toml', 'mcp --service http://127.0.0.1:8787'],
  options: mcpOptions,
  run: (values, operands) => (values.service === undefined ? serve : bridge)(values, operands),
  actions: {
    login: {
      operands: SERVER,
      run: lazy(async () => (await import('./login.ts')).loginMcp),
    },
    check: { run: lazy(async () => (await import('./check.ts')).checkMcp) },
    import: {
      operands: { text: 'FILE', min: 1, max: 1 },
      run: lazy(async () => (await import('./import.ts')).importServers),
    },
    compacted: {
      operands: { text: '[CONTEXT]', min: 0, max: 1 },
      run: lazy(async () => (await import('./compacted.ts')).noteCompacted),
    },
    logout: {
      operands: SERVER,
      run: lazy(async () => (await import('./login.ts')).logoutMcp),
    },
  },
})
