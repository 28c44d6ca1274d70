import { didYouMean } from '../config/nearest-name.ts'
import { STRATEGY_IDS } from '../core/reduce/budget/strategies.ts'
import { LEVELS } from '../core/reduce/trim/levels.ts'
import type { EncodeRequest } from '../index.ts'
import { type Options, type Refuse, type TextTerms, UsageError, type ValuesOf } from './command.ts'

/** An option that takes one of a few texts. */
export function choice<Choice extends string>(
  choices: readonly Choice[],
  { takes = choices.join(', '), ...terms }: TextTerms & { readonly takes?: string },
) {
  const read = (given: string, refuse: Refuse): Choice =>
    choices.find(each => each === given) ?? refuse(takes + didYouMean(given, choices))
  return { ...terms, type: 'string', choices, read } as const
}

interface NumberTerms extends TextTerms {
  readonly min: number
  readonly max?: number
}

/** An option that takes a whole number in plain digits, without leading zeros if it is never 0. */
export function wholeNumber({ min, max, ...terms }: NumberTerms) {
  const digits = min > 0 ? /^[1-9]\d*$/ : /^\d+$/
  const takes = `a whole number from ${min} ${max === undefined ? 'on' : `to ${max}`}`
  const read = (given: string, refuse: Refuse): number => {
    const value = digits.test(given) ? Number(given) : Number.NaN
    return value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER) ? value : refuse(takes)
  }
  return { ...terms, type: 'string', read } as const
}

/** The options that several commands share. */
export const tokenizerOptions = {
  tokenizer: { type: 'string', value: 'ID', help: 'Tokenizer or profile (default o200k_base)' },
  model: { type: 'string', value: 'ID', help: 'Model id, resolved to a tokenizer' },
} as const satisfies Options

export const jsonOption = {
  json: { type: 'boolean', help: 'Print the whole answer as JSON' },
} as const satisfies Options

const MODES = ['lossless', 'elide', 'trim'] as const

/** The budget, and what is left out first to reach it. */
export const budgetOptions = {
  budget: wholeNumber({
    value: 'TOKENS',
    help: 'Most tokens that the answer may have',
    min: 0,
  }),
  mode: choice(MODES, {
    value: 'MODE',
    help: `${MODES.join(', ')}: whether parts may be left out for the budget (default the first)`,
  }),
  strategy: choice(STRATEGY_IDS, {
    value: 'ID',
    help: `Which parts matter most then: ${STRATEGY_IDS.join(', ')}`,
  }),
} as const satisfies Options

/**
 * The request fields that `budgetOptions` fill.
 * @throws UsageError
 */
export function budgetFieldsOf({
  budget,
  mode,
  strategy,
}: ValuesOf<typeof budgetOptions>): Pick<EncodeRequest, 'budget_tokens' | 'mode' | 'strategy'> {
  if (mode === 'trim' && budget === undefined) throw new UsageError('--mode trim needs a --budget')
  return {
    ...(budget === undefined ? {} : { budget_tokens: budget }),
    ...(mode === undefined ? {} : { mode }),
    ...(strategy === undefined ? {} : { strategy }),
  }
}

/** What of a list of items is sent if it is trimmed. */
export const itemOptions = {
  level: choice(LEVELS, {
    value: 'LEVEL',
    help: `Most detail of each item then: ${LEVELS.join(', ')}`,
  }),
  chunk: wholeNumber({
    value: 'N',
    help: 'Which chunk of a list of items (default 1)',
    min: 1,
  }),
} as const satisfies Options

/** The request fields that `itemOptions` fill. */
export function itemFieldsOf({
  level,
  chunk,
}: ValuesOf<typeof itemOptions>): Pick<EncodeRequest, 'level' | 'chunk'> {
  return {
    ...(level === undefined ? {} : { level }),
    ...(chunk === undefined ? {} : { chunk }),
  }
}

/** The request fields that `tokenizerOptions` fill. */
export function tokenizerFieldsOf({ tokenizer, model }: ValuesOf<typeof tokenizerOptions>): {
  tokenizer?: string
  model?: string
} {
  return {
    ...(tokenizer === undefined ? {} : { tokenizer }),
    ...(model === undefined ? {} : { model }),
  }
}

/** Reads an option that takes a share. */
export function readShare(given: string, refuse: Refuse): number {
  const share = Number(given)
  return given !== '' && share >= 0 && share <= 1 ? share : refuse('a share from 0 to 1')
}
