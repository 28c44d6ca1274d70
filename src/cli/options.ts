import type { CommandOption, Values } from './command.ts'
import { text } from './command.ts'

/** The options that several commands share. */
export const tokenizerOptions = {
  tokenizer: { type: 'string', value: 'ID', help: 'Tokenizer or profile (default o200k_base)' },
  model: { type: 'string', value: 'ID', help: 'Model id, resolved to a tokenizer' },
} as const satisfies Record<string, CommandOption>

export const jsonOption = {
  json: { type: 'boolean', help: 'Print the whole answer as JSON' },
} as const satisfies Record<string, CommandOption>

/** The request fields that `tokenizerOptions` fill. */
export function tokenizerFieldsOf(values: Values): { tokenizer?: string; model?: string } {
  const tokenizer = text(values, 'tokenizer')
  const model = text(values, 'model')
  return {
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(model === undefined ? {} : { model }),
  }
}
