import { didYouMean } from '../config/nearest-name.ts'
import { type Command, type CommandOption, UsageError } from '../console/command.ts'
import { ownArguments, parseArguments } from '../console/parse-arguments.ts'
import { ServiceProblem } from '../console/service-client.ts'
import { alignColumns } from '../console/table.ts'
import { AppError } from '../core/base/errors.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { reasonOf } from '../runtime/system-reason.ts'
import { VERSION } from '../runtime/version.ts'
import { COMMANDS, FIRST_COMMANDS, MERGED, otherCommands } from './commands.ts'

const VERSION_WORDS = ['--version', '-v', '-V', 'version']

/** Runs the command line and resolves to its exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(argv: readonly string[]): Promise<number> {
  watchOutput(false)
  const [name, ...rest] = argv
  if (VERSION_WORDS.includes(name ?? '')) return print(VERSION)
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    return name === undefined ? tellUsage(overview(false)) : help(rest)
  }
  const command = await loadCommand(name)
  if (command === null) return tellUsage(noCommand(name))
  watchOutput(command.outlivesReader === true)
  const place = MERGED[command.name]
  if (place !== undefined) {
    const [into] = place.split(' ')
    process.stderr.write(
      `haversack: ${command.name} is a part of ${into} now: haversack ${place}\n`,
    )
  }
  try {
    return await runCommand(command, rest)
  } catch (error) {
    return explain(command, error)
  }
}

/** `haversack help [COMMAND | --all]` */
async function help([name]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--all') return print(overview(name === '--all'))
  const command = await loadCommand(name)
  return command === null ? tellUsage(noCommand(name)) : print(commandHelp(command))
}

async function loadCommand(name: string): Promise<Command | null> {
  // A name that every object has, such as `constructor`, is no command.
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  return (await found?.load()) ?? null
}

function noCommand(name: string): string {
  const near = didYouMean(name, Object.keys(COMMANDS))
  return `haversack: no command ${name}${near}\nTry: haversack --help`
}

function tellUsage(text: string): number {
  process.stderr.write(`${text}\n`)
  return EXIT.usage
}

async function runCommand(command: Command, argv: string[]): Promise<number> {
  const own = ownArguments(command, argv)
  if (own.includes('--help') || own.includes('-h')) return print(commandHelp(command))
  const { values, operands } = parseArguments(command, argv)
  return command.run(values, operands)
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
  process.stderr.write(`haversack: ${reasonOf(error)}\n`)
  return EXIT.failed
}

function print(result: string): number {
  process.stdout.write(`${result}\n`)
  return EXIT.ok
}

/** The page of `haversack --help`, and that of `haversack help --all`. */
function overview(isWhole: boolean): string {
  const groups = { ...FIRST_COMMANDS, ...(isWhole ? { More: otherCommands() } : {}) }
  const names = Object.values(groups).flat()
  const lines = alignColumns(names.map(name => [`  ${name}`, COMMANDS[name]?.summary ?? '']))
  return [
    'haversack: tool results in, the same information in fewer tokens out',
    '',
    'Usage: haversack COMMAND [OPTIONS]',
    ...Object.entries(groups).flatMap(([title, own]) => [
      '',
      `${title}:`,
      ...own.map(name => lines[names.indexOf(name)] ?? ''),
    ]),
    '',
    `haversack help COMMAND explains a command${isWhole ? '.' : '; help --all lists the others.'}`,
    'Exit codes: 0 done, 1 failed, 2 wrong usage.',
  ].join('\n')
}

/** The page of `haversack COMMAND --help`. */
export function commandHelp(command: Command): string {
  const { name, operands, details, examples, options } = command
  const rows = Object.entries(options).map(([key, option]) => [
    `  --${key}${option.type === 'string' ? ` ${option.value ?? 'TEXT'}` : ''}`,
    helpOf(option),
  ])
  return [
    `Usage: haversack ${name} [OPTIONS] ${operands}`.trimEnd(),
    '',
    COMMANDS[name]?.summary ?? '',
    ...(details === undefined ? [] : [details]),
    '',
    ...alignColumns([...rows, ['  --help', 'This page']]),
    '',
    examples.length === 1 ? 'Example:' : 'Examples:',
    ...examples.map(example => `  haversack ${example}`),
  ].join('\n')
}

/** The line of help, headed by the actions that read the option. */
function helpOf({ actions, help }: CommandOption): string {
  return actions === undefined ? help : `${actions.join(', ')}: ${help}`
}

/** What a shell reports of a program that SIGPIPE ended, as it ends others whose reader left. */
const READER_LEFT = 141

let isWatched = false
let isOutlived = false

/**
 * Lets this process end quietly if the reader of its output has left, as `head` does.
 * @param outlives whether it has more to do than to print, and continues
 */
function watchOutput(outlives: boolean): void {
  isOutlived = outlives
  if (isWatched) return
  isWatched = true
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isOutlived) return
    if (error.code === 'EPIPE') process.exit(READER_LEFT)
    process.stderr.write(`haversack: the output cannot be written: ${error.code}\n`)
    process.exit(EXIT.failed)
  })
  // What it would tell has no reader.
  process.stderr.on('error', () => undefined)
}
