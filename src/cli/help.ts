import type { Command, CommandOption } from './command.ts'
import { alignColumns } from './table.ts'

/** The page of `haversack --help`. */
export function overview(commands: readonly Command[]): string {
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
