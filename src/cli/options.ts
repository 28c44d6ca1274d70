import { STRATEGY_IDS } from '../core/reduce/budget/strategies.ts'
import { LEVELS } from '../core/reduce/trim/levels.ts'
import type { EncodeRequest } from '../index.ts'
import { type CommandOption, text, UsageError, type Values } from './command.ts'

/** The options that several commands share. */
export const tokenizerOptions = {
  tokenizer: { type: 'string', value: 'ID', help: 'Tokenizer or profile (default o200k_base)' },
  model: { type: 'string', value: 'ID', help: 'Model id, resolved to a tokenizer' },
} as const satisfies Record<string, CommandOption>

export const jsonOption = {
  json: { type: 'boolean', help: 'Print the whole answer as JSON' },
} as const satisfies Record<string, CommandOption>

const MODES = ['lossless', 'elide', 'trim'] as const

/** How much may leave, and what goes first where it must be less. */
export const budgetOptions = {
  budget: { type: 'string', value: 'TOKENS', help: 'Fail if the answer would be above' },
  mode: {
    type: 'string',
    value: 'MODE',
    help: `${MODES.join(', ')}: whether parts may be left out for the budget (default the first)`,
  },
  strategy: {
    type: 'string',
    value: 'ID',
    help: `Which parts matter most then: ${STRATEGY_IDS.join(', ')}`,
  },
} as const satisfies Record<string, CommandOption>

/**
 * The request fields that `budgetOptions` fill.
 * @throws UsageError
 */
export function budgetFieldsOf(
  values: Values,
): Pick<EncodeRequest, 'budget_tokens' | 'mode' | 'strategy'> {
  const budget = text(values, 'budget')
  if (budget !== undefined && !/^\d{1,15}$/.test(budget)) {
    throw new UsageError('--budget takes a whole number')
  }
  const mode = oneOf('mode', MODES, values)
  const strategy = oneOf('strategy', STRATEGY_IDS, values)
  if (mode === 'trim' && budget === undefined) throw new UsageError('--mode trim needs a --budget')
  return {
    ...(budget === undefined ? {} : { budget_tokens: Number(budget) }),
    ...(mode === undefined ? {} : { mode }),
    ...(strategy === undefined ? {} : { strategy }),
  }
}

/** What of a list of items leaves where it is trimmed. */
export const itemOptions = {
  level: {
    type: 'string',
    value: 'LEVEL',
    help: `The most that is told of each item then: ${LEVELS.join(', ')}`,
  },
  chunk: { type: 'string', value: 'N', help: 'Which chunk of a list of items (default 1)' },
} as const satisfies Record<string, CommandOption>

/**
 * The request fields that `itemOptions` fill.
 * @throws UsageError
 */
export function itemFieldsOf(values: Values): Pick<EncodeRequest, 'level' | 'chunk'> {
  const level = oneOf('level', LEVELS, values)
  const chunk = text(values, 'chunk')
  if (chunk !== undefined && !/^[1-9]\d{0,14}$/.test(chunk)) {
    throw new UsageError('--chunk takes a whole number from 1 on')
  }
  return {
    ...(level === undefined ? {} : { level }),
    ...(chunk === undefined ? {} : { chunk: Number(chunk) }),
  }
}

/**
 * The value of an option that takes one of a few; `undefined` where it was not given.
 * @throws UsageError
 */
export function oneOf<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  values: Values,
): Choice | undefined {
  const given = text(values, name)
  const choice = choices.find(each => each === given)
  if (given === undefined || choice !== undefined) return choice
  throw new UsageError(`--${name} takes ${choices.join(', ')}`)
}

/** The request fields that `tokenizerOptions` fill. */
export function tokenizerFieldsOf(values: Values): { tokenizer?: string; model?: string } {
  const tokenizer = text(values, 'tokenizer')
  const model = text(values, 'model')
  return {
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(model === undefined ? {} : { model }),
  }
}
