import type { ParseArgsOptionDescriptor } from 'node:util'

/** An option as `node:util` parses it, with its line of help. */
export type CommandOption = ParseArgsOptionDescriptor & {
  readonly help: string
  /** Name of the value in the help, for strings. */
  readonly value?: string
}

export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>

/** One sub-command, one file. Results go to stdout, everything else to stderr. */
export interface Command {
  readonly name: string
  /** A line of the overview. */
  readonly summary: string
  /** What its own page says beside that. */
  readonly details?: string
  /** What stands behind the name, for example `[FILE]`. */
  readonly operands: string
  /** Most operands that are taken. */
  readonly maxOperands: number
  readonly options: Readonly<Record<string, CommandOption>>
  /** Resolves to the exit code. Throws `UsageError` or `AppError`. */
  run(values: Values, operands: readonly string[]): Promise<number>
}

/** A call that cannot be taken: exit code 2 and a pointer to `--help`. */
export class UsageError extends Error {}

/** The value of a string option; `undefined` where it was not given. */
export function text(values: Values, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}
