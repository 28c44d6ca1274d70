import { type Lie, lie, omit, replace } from './lie.ts'

/** What an answer says of itself. */
export const LIES_OF_ACCOUNTS: readonly Lie[] = [
  lie('another value', 'job', 'answer', /decodes to something else/, line =>
    replace(line, 'pending', 'pendant'),
  ),
  lie('another format', 'job', 'answer', /cannot be decoded/, line => {
    line.answer.format = 'csv@9'
  }),
  lie(
    'notes that are not there',
    'page',
    'answer',
    /cannot be decoded|other lines stand around|something else/,
    line => {
      line.answer.format = line.answer.format.replace('1,1', '2,1')
    },
  ),
  lie('tokens that are not its own', 'job', 'answer', /tokens\.final is \d+, not/, line => {
    line.answer.tokens.final--
  }),
  lie('another baseline', 'job', 'answer', /tokens\.baseline is \d+, not/, line => {
    line.answer.tokens.baseline++
  }),
  lie('another tokenizer', 'job', 'answer', /tokens\.tokenizer is cl100k_base/, line => {
    line.request.tokenizer = 'cl100k_base'
  }),
  lie('an estimate as exact', 'job', 'answer', /tokens\.exact is true/, line => {
    line.answer.tokens.exact = false
  }),
  lie('savings that are none', 'job', 'answer', /the sum of savings/, line => {
    line.answer.savings.encoder_tokens++
  }),
  lie('omission counted as encoding', 'log', 'answer', /savings\.elided_tokens/, line => {
    const { savings } = line.answer
    savings.encoder_tokens += savings.elided_tokens
    savings.elided_tokens = 0
  }),
  lie('other bytes in', 'job', 'answer', /bytes\.raw/, line => {
    line.answer.bytes.raw++
  }),
  lie('other bytes out', 'job', 'answer', /bytes\.output/, line => {
    line.answer.bytes.output--
  }),
  lie('lossless where parts are missing', 'log', 'answer', /lossless is false, not true/, line => {
    line.answer.lossless = true
  }),
  lie('truncated where nothing is missing', 'job', 'answer', /truncated is false/, line => {
    line.answer.truncated = true
  }),
  lie('another partition', 'job', 'answer', /partition is 0, not 1/, line => {
    line.answer.partition = 1
  }),
  lie('more than the budget', 'log', 'answer', /above 10 tokens/, line => {
    line.request.budget_tokens = 10
  }),
  lie('more than what came in', 'job', 'answer', /more tokens than what came in/, line => {
    line.answer.content += ' and so on'.repeat(300)
  }),
  lie('another answer to a retry', 'retry', 'answer', /answered differently before/, line => {
    line.answer.shape = 'other'
  }),
  lie('no content', 'job', 'answer', /has no content/, line => {
    line.request = { ...omit(line.request, 'content'), input_ref: 'x' }
  }),
]
