import { type Lie, omit, replace } from './lie.ts'

/** What an answer says of itself. */
export const LIES_OF_ACCOUNTS: readonly Lie[] = [
  [
    'another value',
    'job',
    ({ job }) => replace(job, 'pending', 'pendant'),
    'answer',
    /decodes to something else/,
  ],
  [
    'another format',
    'job',
    ({ job }) => {
      job.answer.format = 'csv@9'
    },
    'answer',
    /cannot be decoded/,
  ],
  [
    'notes that are not there',
    'page',
    ({ page }) => {
      page.answer.format = page.answer.format.replace('1,1', '2,1')
    },
    'answer',
    /cannot be decoded|other lines stand around|something else/,
  ],
  [
    'tokens that are not its own',
    'job',
    ({ job }) => {
      job.answer.tokens.final--
    },
    'answer',
    /tokens\.final is \d+, not/,
  ],
  [
    'another baseline',
    'job',
    ({ job }) => {
      job.answer.tokens.baseline++
    },
    'answer',
    /tokens\.baseline is \d+, not/,
  ],
  [
    'another tokenizer',
    'job',
    ({ job }) => {
      job.request.tokenizer = 'cl100k_base'
    },
    'answer',
    /tokens\.tokenizer is cl100k_base/,
  ],
  [
    'an estimate as exact',
    'job',
    ({ job }) => {
      job.answer.tokens.exact = false
    },
    'answer',
    /tokens\.exact is true/,
  ],
  [
    'savings that are none',
    'job',
    ({ job }) => {
      job.answer.savings.encoder_tokens++
    },
    'answer',
    /the sum of savings/,
  ],
  [
    'omission counted as encoding',
    'log',
    ({ log }) => {
      const { savings } = log.answer
      savings.encoder_tokens += savings.elided_tokens
      savings.elided_tokens = 0
    },
    'answer',
    /savings\.elided_tokens/,
  ],
  [
    'other bytes in',
    'job',
    ({ job }) => {
      job.answer.bytes.raw++
    },
    'answer',
    /bytes\.raw/,
  ],
  [
    'other bytes out',
    'job',
    ({ job }) => {
      job.answer.bytes.output--
    },
    'answer',
    /bytes\.output/,
  ],
  [
    'lossless where parts are missing',
    'log',
    ({ log }) => {
      log.answer.lossless = true
    },
    'answer',
    /lossless is false, not true/,
  ],
  [
    'truncated where nothing is missing',
    'job',
    ({ job }) => {
      job.answer.truncated = true
    },
    'answer',
    /truncated is false/,
  ],
  [
    'another partition',
    'job',
    ({ job }) => {
      job.answer.partition = 1
    },
    'answer',
    /partition is 0, not 1/,
  ],
  [
    'more than the budget',
    'log',
    ({ log }) => {
      log.request.budget_tokens = 10
    },
    'answer',
    /above 10 tokens/,
  ],
  [
    'more than what came in',
    'job',
    ({ job }) => {
      job.answer.content += ' and so on'.repeat(300)
    },
    'answer',
    /more tokens than what came in/,
  ],
  [
    'another answer to a retry',
    'retry',
    ({ retry }) => {
      retry.answer.shape = 'other'
    },
    'answer',
    /answered differently before/,
  ],
  [
    'no content',
    'job',
    ({ job }) => {
      job.request = { ...omit(job.request, 'content'), input_ref: 'x' }
    },
    'answer',
    /has no content/,
  ],
]
