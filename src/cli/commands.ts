import type { Commands } from '../console/command.ts'

/**
 * Commands are imported when they are called, so that `--help` and `count` do not load the service.
 */
export const COMMANDS: Commands = {
  run: {
    summary: 'Run an agent, such as claude or codex, behind a proxy of its own',
    load: async () => (await import('./run/command.ts')).runCommand,
  },
  setup: {
    summary: 'Set the base URL of an agent in its own configuration file, or put it back',
    load: async () => (await import('./setup/command.ts')).setupCommand,
  },
  doctor: {
    summary:
      'Check the installation, the service, its upstreams, and where an agent sends requests',
    load: async () => (await import('./doctor/command.ts')).doctorCommand,
  },
  gain: {
    summary: 'What was saved: tokens and money, by day, project, agent and tool',
    load: async () => (await import('./gain/command.ts')).gainCommand,
  },
  discover: {
    summary: 'What your agents cost so far, and what would have been saved, by their own logs',
    load: async () => (await import('./discover/command.ts')).discoverCommand,
  },
  arms: {
    summary: 'What elision saves after what agents do about it, by class',
    load: async () => (await import('./arms/command.ts')).armsCommand,
  },
  savings: {
    summary: 'What the proxies of a running service saved: results, requests, billed',
    load: async () => (await import('./savings/command.ts')).savingsCommand,
  },
  statusline: {
    summary: "This session's savings as a line for the status line of Claude Code",
    load: async () => (await import('./statusline/command.ts')).statuslineCommand,
  },
  hook: {
    summary: 'Make the results of tools smaller as a hook of an agent, without a base URL',
    load: async () => (await import('./hook/command.ts')).hookCommand,
  },
  proxy: {
    summary: 'Show what the proxies would do with a recorded request; nothing is sent',
    load: async () => (await import('./proxy/command.ts')).proxyCommand,
  },
  serve: {
    summary: 'Start the service',
    load: async () => (await import('./serve/command.ts')).serveCommand,
  },
  mcp: {
    summary: 'Serve the MCP servers of the configuration to one agent, with smaller results',
    load: async () => (await import('./mcp/command.ts')).mcpCommand,
  },
  keys: {
    summary:
      'Manage the keys of clients; `add` prints a new key once, the file keeps only its hash',
    load: async () => (await import('./keys/command.ts')).keysCommand,
  },
  encode: {
    summary: 'Make a tool result smaller; the text goes to stdout, what was done to stderr',
    load: async () => (await import('./encode/command.ts')).encodeCommand,
  },
  decode: {
    summary: 'Decode an encoded text',
    load: async () => (await import('./decode/command.ts')).decodeCommand,
  },
  count: {
    summary: 'Count the tokens of files, or of standard input',
    load: async () => (await import('./count/command.ts')).countCommand,
  },
  show: {
    summary: 'Show a result before and after, fetch an original, or check a recorded request',
    load: async () => (await import('./show/command.ts')).showCommand,
  },
  get: {
    summary: 'Fetch back a kept original from a running service; the text goes to stdout',
    load: async () => (await import('./get/command.ts')).getCommand,
  },
  store: {
    summary: 'Maintain the kept originals of this data folder, with or without a running service',
    load: async () => (await import('./store/command.ts')).storeCommand,
  },
  telemetry: {
    summary: 'What was saved on which endpoints, from the telemetry of this data folder',
    load: async () => (await import('./telemetry/command.ts')).telemetryCommand,
  },
  tokens: {
    summary: 'Print the token ids of a text',
    load: async () => (await import('./tokens/command.ts')).tokensCommand,
  },
  verify: {
    summary: 'Check every hint and every figure of recorded answers',
    load: async () => (await import('./verify/command.ts')).verifyCommand,
  },
  audit: {
    summary: 'Report what the definitions of tools cost in each request',
    load: async () => (await import('./audit/command.ts')).auditCommand,
  },
  replay: {
    summary: 'Play recorded tool results, check every answer, and sum up the savings',
    load: async () => (await import('./replay/command.ts')).replayCommand,
  },
  bench: {
    summary: 'Measure elision, or the pages of your own lists',
    load: async () => (await import('./bench/command.ts')).benchCommand,
  },
  tune: {
    summary: 'Read the logs of Claude Code and Codex, and fit the pipeline to them',
    load: async () => (await import('./tune/command.ts')).tuneCommand,
  },
  fingerprints: {
    summary:
      'Fingerprints of endpoints: build them from telemetry, share them, fetch those of others',
    load: async () => (await import('./fingerprints/command.ts')).fingerprintsCommand,
  },
  config: {
    summary: 'Show how the pipeline chooses and which file says so; migrate files',
    load: async () => (await import('./config/command.ts')).configCommand,
  },
  uninstall: {
    summary: 'Remove what npm run install:user installed, and what setup wrote',
    load: async () => (await import('./uninstall/command.ts')).uninstallCommand,
  },
  status: {
    summary: 'What runs, which agents use it, the versions, and the ledger',
    load: async () => (await import('./status/command.ts')).statusCommand,
  },
  completion: {
    summary: 'Print what lets a shell complete commands, options and names',
    load: async () => (await import('./completion/command.ts')).completionOf(COMMANDS),
  },
  views: {
    summary: 'What is shown of results: list the views, or check a file of views on recordings',
    load: async () => (await import('./views/command.ts')).viewsCommand,
  },
}

/** The first page of help: what most users need, by what they want. */
export const FIRST_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'Use it with an agent': ['run', 'setup', 'doctor', 'status'],
  'See what it does': ['gain', 'discover', 'show', 'encode', 'decode'],
  'Serve others': ['serve', 'mcp', 'keys'],
}

/** What earlier versions had, and what has taken its place. */
export const MERGED: Readonly<Record<string, string>> = {
  savings: 'gain --misses',
  arms: 'gain --arms',
  proxy: 'show --check FILE',
}

/** Programs, shells and agents call the first of these. */
const NOT_LISTED = ['hook', 'statusline', 'completion', 'get', ...Object.keys(MERGED)]

/** The commands of `help --all` that the first page does not have. */
export function otherCommands(): readonly string[] {
  const listed = [...Object.values(FIRST_COMMANDS).flat(), ...NOT_LISTED]
  return Object.keys(COMMANDS).filter(name => !listed.includes(name))
}
