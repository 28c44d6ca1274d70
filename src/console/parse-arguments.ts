import { parseArgs } from 'node:util'
import { didYouMean } from '../config/nearest-name.ts'
import { type Command, type Given, UsageError } from './command.ts'

type ParsedCommand = Pick<Command, 'options' | 'maxOperands' | 'endsWithOperands'>

export interface ParsedArguments {
  readonly values: Given
  readonly operands: readonly string[]
}

/**
 * The arguments of a call: options anywhere before `--`, operands among and after them.
 * @throws UsageError for an option that the command does not have, that lacks its text, or has one
 * that it does not take, and for too many operands
 */
export function parseArguments(
  { options, maxOperands, endsWithOperands }: ParsedCommand,
  given: readonly string[],
): ParsedArguments {
  const [args, rest] = endsWithOperands ? splitAtOperand(options, given) : [given, []]
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value } = token
    const option = Object.hasOwn(options, name) ? options[name] : undefined
    if (option === undefined || !rawName.startsWith('--')) {
      const near = didYouMean(name, Object.keys(options), '--')
      throw new UsageError(`no option ${rawName}${near}`)
    }
    if (option.type === 'boolean' && value !== undefined) {
      throw new UsageError(`${rawName} takes no text`)
    }
    // `--file --json` forgot the file; a text that begins so is written `--file=--json`.
    const isOption = token.inlineValue === false && value?.startsWith('-') === true && value !== '-'
    if (option.type === 'string' && (value === undefined || isOption)) {
      const instead = isOption ? `, not ${value}` : ''
      throw new UsageError(`${rawName} takes ${option.value}${instead}`)
    }
  }
  const operands = [...positionals, ...rest]
  if (operands.length > maxOperands) {
    throw new UsageError(`too many operands: ${operands.slice(maxOperands).join(' ')}`)
  }
  return { values, operands }
}

/** The options of a command: what comes before `--`, and before another program's command line. */
export function ownArguments(
  { options, endsWithOperands }: ParsedCommand,
  args: readonly string[],
): readonly string[] {
  const end = args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  return endsWithOperands ? splitAtOperand(options, own)[0] : own
}

/** The arguments before the first operand, and the operands without a `--` before them. */
function splitAtOperand(options: Command['options'], args: readonly string[]) {
  const { tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const first = tokens.find(({ kind }) => kind !== 'option')
  if (first === undefined) return [args, []] as const
  const from = first.kind === 'positional' ? first.index : first.index + 1
  return [args.slice(0, first.index), args.slice(from)] as const
}
