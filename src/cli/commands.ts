import type { Command } from '../console/command.ts'

/**
 * Commands are imported when they are called, so that `--help` and `count` do not load the service.
 */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run/command.ts')).runCommand,
  setup: async () => (await import('./setup/command.ts')).setupCommand,
  doctor: async () => (await import('./doctor/command.ts')).doctorCommand,
  gain: async () => (await import('./gain/command.ts')).gainCommand,
  discover: async () => (await import('./discover/command.ts')).discoverCommand,
  arms: async () => (await import('./arms/command.ts')).armsCommand,
  savings: async () => (await import('./savings/command.ts')).savingsCommand,
  statusline: async () => (await import('./statusline/command.ts')).statuslineCommand,
  hook: async () => (await import('./hook/command.ts')).hookCommand,
  proxy: async () => (await import('./proxy/command.ts')).proxyCommand,
  serve: async () => (await import('./serve/command.ts')).serveCommand,
  mcp: async () => (await import('./mcp/command.ts')).mcpCommand,
  keys: async () => (await import('./keys/command.ts')).keysCommand,
  encode: async () => (await import('./encode/command.ts')).encodeCommand,
  decode: async () => (await import('./decode/command.ts')).decodeCommand,
  count: async () => (await import('./count/command.ts')).countCommand,
  show: async () => (await import('./show/command.ts')).showCommand,
  get: async () => (await import('./get/command.ts')).getCommand,
  store: async () => (await import('./store/command.ts')).storeCommand,
  telemetry: async () => (await import('./telemetry/command.ts')).telemetryCommand,
  tokens: async () => (await import('./tokens/command.ts')).tokensCommand,
  verify: async () => (await import('./verify/command.ts')).verifyCommand,
  audit: async () => (await import('./audit/command.ts')).auditCommand,
  replay: async () => (await import('./replay/command.ts')).replayCommand,
  bench: async () => (await import('./bench/command.ts')).benchCommand,
  tune: async () => (await import('./tune/command.ts')).tuneCommand,
  fingerprints: async () => (await import('./fingerprints/command.ts')).fingerprintsCommand,
  config: async () => (await import('./config/command.ts')).configCommand,
  uninstall: async () => (await import('./uninstall/command.ts')).uninstallCommand,
  status: async () => (await import('./status/command.ts')).statusCommand,
  completion: async () => (await import('./completion/command.ts')).completionOf(COMMANDS),
  views: async () => (await import('./views/command.ts')).viewsCommand,
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
