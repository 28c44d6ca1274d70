import type { Command } from './command.ts'

/**
 * Commands are imported when they are called, so that `--help` and `count` do not load the service.
 */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run-command.ts')).runCommand,
  setup: async () => (await import('./setup.ts')).setupCommand,
  doctor: async () => (await import('./doctor.ts')).doctorCommand,
  gain: async () => (await import('./gain.ts')).gainCommand,
  discover: async () => (await import('./discover.ts')).discoverCommand,
  arms: async () => (await import('./arms.ts')).armsCommand,
  savings: async () => (await import('./savings.ts')).savingsCommand,
  statusline: async () => (await import('./statusline.ts')).statuslineCommand,
  hook: async () => (await import('./hook.ts')).hookCommand,
  proxy: async () => (await import('./proxy.ts')).proxyCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  keys: async () => (await import('./keys.ts')).keysCommand,
  encode: async () => (await import('./encode.ts')).encodeCommand,
  decode: async () => (await import('./decode.ts')).decodeCommand,
  count: async () => (await import('./count.ts')).countCommand,
  show: async () => (await import('./show.ts')).showCommand,
  get: async () => (await import('./get.ts')).getCommand,
  store: async () => (await import('./store.ts')).storeCommand,
  telemetry: async () => (await import('./telemetry.ts')).telemetryCommand,
  tokens: async () => (await import('./tokens.ts')).tokensCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  audit: async () => (await import('./audit.ts')).auditCommand,
  replay: async () => (await import('./replay.ts')).replayCommand,
  bench: async () => (await import('./bench.ts')).benchCommand,
  tune: async () => (await import('./tune.ts')).tuneCommand,
  fingerprints: async () => (await import('./fingerprints.ts')).fingerprintsCommand,
  config: async () => (await import('./config.ts')).configCommand,
  uninstall: async () => (await import('./uninstall.ts')).uninstallCommand,
  status: async () => (await import('./status.ts')).statusCommand,
  completion: async () => (await import('./completion.ts')).completionOf(COMMANDS),
  views: async () => (await import('./views.ts')).viewsCommand,
}

/** The first page of help: what most users need, by what they want. */
export const FIRST_COMMANDS: Readonly<Record<string, readonly string[]>> = {
  'Use it with an agent': ['run', 'setup', 'doctor', 'status'],
  'See what it does': ['gain', 'discover', 'show', 'encode', 'decode'],
  'Serve others': ['serve', 'mcp', 'keys'],
}

/** Programs call these, and earlier versions had them. */
const NOT_LISTED = ['hook', 'statusline', 'savings', 'arms', 'proxy', 'get']

/** The commands of `help --all` that the first page does not have. */
export function otherCommands(): readonly string[] {
  const listed = [...Object.values(FIRST_COMMANDS).flat(), ...NOT_LISTED]
  return Object.keys(COMMANDS).filter(name => !listed.includes(name))
}
