import { parseArgs } from 'node:util'
import { AppError } from '../core/base/errors.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { VERSION } from '../runtime/version.ts'
import { type Command, type CommandOption, UsageError } from './command.ts'
import { ServiceProblem } from './service-client.ts'
import { alignColumns } from './table.ts'

/**
 * Commands are imported when they are called, so that `--help` and `count` do not load the service.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./run-command.ts')).runCommand,
  proxy: async () => (await import('./proxy.ts')).proxyCommand,
  serve: async () => (await import('./serve.ts')).serveCommand,
  mcp: async () => (await import('./mcp.ts')).mcpCommand,
  keys: async () => (await import('./keys.ts')).keysCommand,
  encode: async () => (await import('./encode.ts')).encodeCommand,
  decode: async () => (await import('./decode.ts')).decodeCommand,
  count: async () => (await import('./count.ts')).countCommand,
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
}

/** Runs the command line and resolves to its exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === '--version' || name === '-v') return print(VERSION)
  // A name that every object has, such as `constructor`, is no command.
  const load = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load === undefined) {
    const help = overview(await Promise.all(Object.values(COMMANDS).map(each => each())))
    if (name === '--help' || name === '-h' || name === 'help') return print(help)
    const wrong = `haversack: no command ${name}\nTry: haversack --help`
    process.stderr.write(`${name === undefined ? help : wrong}\n`)
    return EXIT.usage
  }
  const command = await load()
  try {
    return await runCommand(command, rest)
  } catch (error) {
    return explain(command, error)
  }
}

async function runCommand(command: Command, argv: string[]): Promise<number> {
  // Options after `--` belong to another program.
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  if (own.includes('--help') || own.includes('-h')) return print(commandHelp(command))
  const { values, positionals } = parse(command, argv)
  if (positionals.length > command.maxOperands) {
    throw new UsageError(`too many operands: ${positionals.slice(command.maxOperands).join(' ')}`)
  }
  return command.run(values, positionals)
}

function parse(command: Command, args: string[]) {
  try {
    return parseArgs({ args, options: command.options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function explain(command: Command, error: unknown): number {
  if (error instanceof UsageError) {
    process.stderr.write(`haversack: ${error.message}\nTry: haversack ${command.name} --help\n`)
    return EXIT.usage
  }
  if (error instanceof AppError || error instanceof ServiceProblem) {
    process.stderr.write(`haversack: ${error.code}: ${error.detail}\n`)
    return error.code === 'invalid_request' ? EXIT.usage : EXIT.failed
  }
  process.stderr.write(`haversack: ${error instanceof Error ? error.message : String(error)}\n`)
  return EXIT.failed
}

function print(result: string): number {
  process.stdout.write(`${result}\n`)
  return EXIT.ok
}

/** The page of `haversack --help`. */
function overview(commands: readonly Command[]): string {
  const rows = commands.map(({ name, operands, summary }) => [
    `  ${name} ${operands}`.trimEnd(),
    summary,
  ])
  return [
    'haversack: tool results in, the same information in fewer tokens out',
    '',
    'Usage: haversack COMMAND [OPTIONS]',
    '',
    ...alignColumns(rows),
    '',
    'haversack COMMAND --help explains a command. Exit codes: 0 done, 1 failed, 2 wrong usage.',
  ].join('\n')
}

/** The page of `haversack COMMAND --help`. */
export function commandHelp({ name, operands, summary, details, options }: Command): string {
  const rows = Object.entries(options).map(([key, option]) => [
    `  --${key}${option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : ''}`,
    helpOf(option),
  ])
  return [
    `Usage: haversack ${name} [OPTIONS] ${operands}`.trimEnd(),
    '',
    summary,
    ...(details === undefined ? [] : [details]),
    '',
    ...alignColumns([...rows, ['  --help', 'This page']]),
  ].join('\n')
}

/** The line of help, headed by the actions that read the option. */
function helpOf({ actions, help }: CommandOption): string {
  return actions === undefined ? help : `${actions.join(', ')}: ${help}`
}
