import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../base/errors.ts'
import { parseHint } from '../hints/hint-line.ts'
import { decodeContent } from '../pipeline/decode.ts'
import { createPrices } from '../pipeline/prices.ts'
import type { TokenCounters } from '../tokens/counters.ts'
import { resolveTokenizer } from '../tokens/profiles.ts'
import {
  type AgentContext,
  AgentContexts,
  type ContentRequest,
  identityOf,
} from './agent-contexts.ts'
import { bodyOf } from './answer-body.ts'
import { checkHints } from './check-hints.ts'
import type { CheckedAnswer, Fault } from './checked-answer.ts'
import { imitationsIn } from './look-alikes.ts'
import { jsonValue, sameMeaning } from './same-meaning.ts'
import type { Exchange, RefusedCall, TranscriptEntry, TranscriptLine } from './transcript.ts'

/** A fault of the answer in one line of a transcript. */
export interface Finding extends Fault {
  readonly line: number
  /** `null` for an answer without a session. */
  readonly session: string | null
}

/** An id that an answer sent, and the text that retrieving it must return. */
export interface Retrievable {
  readonly line: number
  readonly family: Fault['family']
  readonly id: string
  /** The session of a reference; only that can retrieve it. */
  readonly session?: string
  readonly content: string
}

/** The result of verifying one line. */
export interface Verified {
  readonly findings: readonly Finding[]
  /** Hints that the answer sent, and how many of them are not true. */
  readonly hints: number
  readonly failed: number
  readonly retrievable: readonly Retrievable[]
  /** What the tool's result has that imitates hints of ours, and that the answer escapes. */
  readonly imitations: readonly Imitation[]
}

/** Content that looks like a hint of ours. */
export interface Imitation {
  readonly line: number
  readonly session: string | null
  readonly text: string
}

/**
 * Compares answers with their requests and with earlier answers, in the order in which they were
 * given.
 */
export interface Verifier {
  check(line: TranscriptLine): Verified
}

const NOTHING: Verified = { findings: [], hints: 0, failed: 0, retrievable: [], imitations: [] }
/** Decoded JSON can be longer than what came in, since lone surrogates become escapes. */
const MOST_GROWTH = 6

/**
 * @returns a verifier that remembers the results of every session that is not compacted or closed
 */
export function createVerifier(counters: TokenCounters): Verifier {
  const contexts = new AgentContexts()

  function checkExchange({ request, answer }: Exchange, line: number): Verified {
    const session = request.session ?? null
    const { content } = request
    if (content === undefined) {
      const reason = 'the request has no content to hold the answer against'
      const finding: Finding = { line, session, family: 'answer', reason }
      return { ...NOTHING, findings: [finding] }
    }
    const result = { request: { ...request, content }, answer, identity: identityOf(content) }
    const context = contexts.of(request)
    const first = firstTry(context, result)
    const then = first === -1 ? context : context.before(first)
    then.addCall(result.request)
    const checked: CheckedAnswer = {
      ...result,
      context: then,
      value: jsonValue(content),
      prices: createPrices(content, resolveTokenizer(request), counters),
    }
    const retried = context.results[first]
    const isSame = retried !== undefined && isDeepStrictEqual(retried.answer, answer)
    // The findings of the first time are valid for a retry.
    const faults = isSame ? [] : [...checkAnswer(checked), ...checkRetry(retried, result)]
    const retrievable = retrievableOf(checked, line)
    if (first === -1) context.addResult(result)
    const bad = new Set(faults.flatMap(({ hint }) => (hint === undefined ? [] : [hint])))
    return {
      findings: faults.map(fault => ({ line, session, ...fault })),
      hints: answer.hints.length,
      failed: answer.hints.filter(({ text }) => bad.has(text)).length,
      retrievable,
      imitations: imitationsIn(checked).map(text => ({ line, session, text })),
    }
  }

  function addRefused({ request }: RefusedCall): void {
    const { content = '' } = request
    contexts.of(request).addRefused({ ...request, content })
  }

  return {
    check({ line, entry }) {
      if (isExchange(entry)) return checkExchange(entry, line)
      if ('request' in entry) addRefused(entry)
      else if (entry.event === 'close') contexts.close(entry.session)
      else contexts.compact(entry.session)
      return NOTHING
    },
  }
}

/** The faults of all answers of a transcript. */
export function verifyTranscript(
  lines: readonly TranscriptLine[],
  counters: TokenCounters,
): readonly Finding[] {
  const verifier = createVerifier(counters)
  return lines.flatMap(line => verifier.check(line).findings)
}

function isExchange(entry: TranscriptEntry): entry is Exchange {
  return 'request' in entry && entry.answer !== null
}

function checkAnswer(checked: CheckedAnswer): Fault[] {
  const maxChars = MOST_GROWTH * checked.request.content.length
  return [
    ...checkHints(checked, maxChars),
    ...checkDecoding(checked, maxChars),
    ...checkAccounts(checked),
  ]
}

/** A lossless answer decodes to the very content; for any other its marker is checked. */
function checkDecoding({ request, answer, context }: CheckedAnswer, maxChars: number): Fault[] {
  if (!answer.lossless) return []
  const reason = decodingFault(request, answer, context, maxChars)
  return reason === null ? [] : [{ family: 'answer', reason }]
}

function decodingFault(
  { content }: ContentRequest,
  answer: Exchange['answer'],
  context: AgentContext,
  maxChars: number,
): string | null {
  const resolve = (ref: string) => context.find(ref)[0]?.content
  try {
    const decoded = decodeContent(answer.content, answer.format, maxChars, resolve)
    if (!sameMeaning(content, decoded)) return 'the answer decodes to something else'
    return bodyOf(answer) === null ? 'other lines stand around the content than are listed' : null
  } catch (error) {
    if (error instanceof AppError) return `the answer cannot be decoded: ${error.detail}`
    throw error
  }
}

/** The place in the context at which this result was sent before, or -1. */
function firstTry(
  { results }: AgentContext,
  { request, identity }: { readonly request: ContentRequest; readonly identity: string },
): number {
  const { tool_call_id: id } = request
  if (id === undefined) return -1
  return results.findIndex(
    before => before.request.tool_call_id === id && before.identity === identity,
  )
}

/** The same call is to be answered as before. */
function checkRetry(before: Exchange | undefined, again: Exchange): Fault[] {
  if (before === undefined || !isDeepStrictEqual(before.request, again.request)) return []
  return [{ family: 'answer', reason: 'the same call was answered differently before' }]
}

/**
 * The ids in an answer's hints, with what they represent; those that mean nothing are findings
 * already.
 */
function retrievableOf({ request, answer, context }: CheckedAnswer, line: number): Retrievable[] {
  return answer.hints.flatMap(({ text }): Retrievable[] => {
    const hint = parseHint(text.slice(0, text.lastIndexOf(']') + 1))
    if (hint === null) return []
    const { family } = hint
    if (family === 'elision') return [{ line, family, id: hint.hash, content: request.content }]
    if (family !== 'reference' && family !== 'near_reference' && family !== 'lines') return []
    const [target] = context.find(hint.ref)
    const { session } = request
    if (target === undefined || session === undefined) return []
    return [{ line, family, id: hint.ref, session, content: target.content }]
  })
}

/** Compares an answer's numbers and flags about itself with the answer. */
function checkAccounts({ request, answer, context, prices }: CheckedAnswer): Fault[] {
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
  const isCut = (request.mode ?? 'lossless') !== 'lossless' || answer.response_level !== undefined
  const mayOmit = request.is_error !== true && isCut
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
