import { parseArgs } from 'node:util'
import { didYouMean } from '../config/nearest-name.ts'
import { type Command, type Given, UsageError } from './command.ts'

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
  { options, maxOperands }: Pick<Command, 'options' | 'maxOperands'>,
  args: readonly string[],
): ParsedArguments {
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
    const isOption = token.inlineValue === false && value?.startsWith('-') && value !== '-'
    if (option.type === 'string' && (value === undefined || isOption === true)) {
      throw new UsageError(`${rawName} takes ${option.value}`)
    }
  }
  if (positionals.length > maxOperands) {
    throw new UsageError(`too many operands: ${positionals.slice(maxOperands).join(' ')}`)
  }
  return { values, operands: positionals }
}
