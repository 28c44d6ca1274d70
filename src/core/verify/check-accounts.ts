import type { CheckedAnswer } from './checked-answer.ts'
import type { Fault } from './fault.ts'

/** Compares an answer's numbers and flags about itself with the answer. */
export function checkAccounts({ request, answer, context, prices }: CheckedAnswer): Fault[] {
  const { tokens, savings, bytes, elided } = answer
  const { counter, baseline } = prices
  const faults: Fault[] = []
  const expect = (name: string, said: unknown, is: unknown) => {
    if (said !== is) faults.push({ family: 'answer', reason: `${name} is ${is}, not ${said}` })
  }
  expect('tokens.tokenizer', tokens.tokenizer, counter.id)
  expect('tokens.exact', tokens.exact, counter.exact)
  expect('tokens.baseline', tokens.baseline, baseline)
  const final = counter.count(answer.content)
  expect('tokens.final', tokens.final, final)
  const { dedup_tokens, encoder_tokens, elided_tokens } = savings
  const saved = dedup_tokens + encoder_tokens + elided_tokens
  // Only escapes of look-alikes may make an answer longer than what came in.
  const longer = mostLonger(answer)
  const isLonger = final > baseline && final <= baseline + longer
  expect('the sum of savings', saved, isLonger ? 0 : tokens.baseline - tokens.final)
  const omitted = elided.reduce((sum, { tokens: each }) => sum + each, 0)
  expect('savings.elided_tokens', elided_tokens, omitted)
  expect('bytes.raw', bytes.raw, Buffer.byteLength(request.content))
  expect('bytes.output', bytes.output, Buffer.byteLength(answer.content))
  expect('truncated', answer.truncated, elided.length > 0)
  expect('lossless', answer.lossless, elided.length === 0)
  expect('partition', answer.partition, context.partition)
  const markers = answer.hints.filter(({ family }) => family === 'elision').length
  expect('the number of markers', markers, elided.length)
  if (final > baseline && !isLonger) {
    faults.push({ family: 'answer', reason: 'the answer has more tokens than what came in' })
  }
  if (final > (request.budget_tokens ?? Infinity)) {
    faults.push({ family: 'answer', reason: `the answer is above ${request.budget_tokens} tokens` })
  }
  const mayOmit = request.is_error !== true && (request.mode ?? 'lossless') !== 'lossless'
  if (elided.length > 0 && !mayOmit) {
    faults.push({ family: 'answer', reason: 'parts were left out of what must stay whole' })
  }
  return faults
}

/**
 * Tokens that an escape takes, at most: it has six characters. Four were the most that were seen.
 */
const ESCAPE_TOKENS = 6

function mostLonger({ look_alikes = 0 }: CheckedAnswer['answer']): number {
  return ESCAPE_TOKENS * look_alikes
}
