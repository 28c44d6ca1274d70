import type { Options, ValuesOf } from '../../console/command.ts'

/** The options by which a command finds the configuration of MCP servers. */
export const configOptions = {
  config: { type: 'string', value: 'FILE', help: 'The TOML file (default: HAVERSACK_CONFIG)' },
  'data-dir': {
    type: 'string',
    value: 'FOLDER',
    help:
      'Keep originals and tokens here ' +
      '(default: data_dir of the configuration, else ~/.haversack)',
  },
} as const satisfies Options

/**
 * The options of all actions. They are apart from the actions, which load the service, because a
 * bridge to a service has to start at once.
 */
export const mcpOptions = {
  ...configOptions,
  context: {
    type: 'string',
    value: 'connection',
    help:
      'The connection is one context: results may refer to earlier ones. ' +
      'Not for agents with sub-agents',
    read: (given, refuse): true => (given === 'connection' ? true : refuse('connection')),
  },
  service: {
    type: 'string',
    value: 'URL',
    help:
      'Serve the servers of a running service, by its /mcp; `compacted` tells it. ' +
      'Its key is in HAVERSACK_KEY, or in --key-file',
  },
  'key-file': { type: 'string', value: 'FILE', help: 'Holds the key for --service' },
  server: {
    type: 'string',
    value: 'NAME',
    help: 'Only this server of --service, with its own names',
  },
  'no-browser': {
    type: 'boolean',
    actions: ['login'],
    help: 'Only print the URL; take the URL that the browser ends at from stdin too',
  },
  tenant: {
    type: 'string',
    value: 'NAME',
    actions: ['login', 'logout'],
    help: 'Whose token it is, in a service with keys (default: local)',
  },
  accept: {
    type: 'boolean',
    actions: ['check'],
    help: 'accept the definitions of tools as they are now, where they are pinned',
  },
  json: { type: 'boolean', actions: ['check'], help: 'print the whole answer as JSON' },
  write: {
    type: 'boolean',
    actions: ['import'],
    help: 'put the gateway in the place of the servers in FILE, with a backup; they go to --config',
  },
  undo: { type: 'boolean', actions: ['import'], help: 'put FILE back as it was before --write' },
} as const satisfies Options

export type McpValues = ValuesOf<typeof mcpOptions>

export type ConfigValues = ValuesOf<typeof configOptions>
