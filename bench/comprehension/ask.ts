import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CONSTRUCTS, type Construct } from '../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import {
  type ChatEndpoint,
  ChatRefusal,
  completeChat,
} from '../../src/lab/bench/chat-completion.ts'
import { createRandom, type Random } from '../../src/lab/bill/statistics.ts'
import type { Pair } from './pair.ts'
import { isRight } from './pairs.ts'

const INSTRUCTION =
  'Answer the question from the data alone. Give only the answer, without explanation. ' +
  'Separate several values by commas.'

/**
 * The model's answer to a question about a text.
 * @throws Error if the endpoint does not answer, or not as the API says
 */
export function ask(endpoint: ChatEndpoint, data: string, question: string): Promise<string> {
  return completeChat(endpoint, INSTRUCTION, `${data}\n\nQuestion: ${question}`)
}

/** Times that a question is asked again. */
const RETRIES = 8
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000

const TOO_MANY_REQUESTS = 429

/**
 * The answer, asked for again if the endpoint says that there were too many requests, or fails by
 * itself. Waits as long as it says, or twice as long each time.
 * @throws Error if it refuses otherwise, or too often
 */
export async function askPatiently(
  ask: () => Promise<string>,
  wait: (ms: number) => Promise<void>,
): Promise<string> {
  for (let retry = 0; ; retry++) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ChatRefusal) || !isPassing(error) || retry === RETRIES) throw error
      await wait(Math.min(error.retryAfterMs ?? FIRST_WAIT_MS * 2 ** retry, LONGEST_WAIT_MS))
    }
  }
}

function isPassing({ status }: ChatRefusal): boolean {
  return status === TOO_MANY_REQUESTS || status >= 500
}

/** Raised when pairs or questions change: answers to other ones are not taken up. */
const VERSION = 2

/** What a model answered. */
export interface Answered {
  readonly construct: string
  readonly seed: number
  /** The question's place in its pair. */
  readonly question: number
  /** The side of a pair that it was asked about. */
  readonly side: 'with' | 'without'
  readonly right: boolean
  readonly given: string
}

const keyOf = ({ construct, seed, question, side }: Omit<Answered, 'right' | 'given'>) =>
  `${construct} ${seed} ${question} ${side}`

/** The answers in a file, which need not be there; those of another version are left out. */
export function readAnswers(path: string): Answered[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap(line => {
      try {
        const { version, ...answer } = JSON.parse(line) as Answered & { version: number }
        return version === VERSION ? [answer] : []
      } catch {
        // Half a line, of a process that ended.
        return []
      }
    })
}

interface Limits {
  /** Tokens of prompts and answers, at most. */
  readonly maxTokens: number
  readonly counter: TokenCounter
}

const SHUFFLE_SEED = 20_26

/**
 * Asks each question about both texts of its pair, in a shuffled order, and keeps the answers, a
 * line each. What the file has already is not asked again. Stops before a question whose prompts
 * would exceed the tokens. Returns whether all were asked.
 * @throws Error if the model does not answer
 */
export async function askAll(
  pairs: readonly Pair[],
  ask: (text: string, question: string) => Promise<string>,
  path: string,
  { maxTokens, counter }: Limits,
): Promise<boolean> {
  const known = new Set(readAnswers(path).map(keyOf))
  mkdirSync(dirname(path), { recursive: true })
  // The last line may be half a one.
  appendFileSync(path, '\n')
  const random = createRandom(SHUFFLE_SEED)
  const tasks = pairs.flatMap(pair =>
    pair.questions.map((question, at) => ({ pair, question, at }) as const),
  )
  let spent = 0
  for (const { pair, question, at } of shuffled(tasks, random)) {
    for (const side of shuffled(['with', 'without'] as const, random)) {
      const place = { construct: pair.construct, seed: pair.seed, question: at, side }
      if (known.has(keyOf(place))) continue
      const text = side === 'with' ? pair.with.content : pair.without
      spent += counter.count(text) + counter.count(question.text)
      if (spent > maxTokens) return false
      const given = await ask(text, question.text)
      spent += counter.count(given)
      const answer = { version: VERSION, ...place, right: isRight(question, given), given }
      appendFileSync(path, `${JSON.stringify(answer)}\n`)
    }
  }
  return true
}

/** Fisher and Yates. */
function shuffled<T>(all: readonly T[], random: Random): T[] {
  const order = [...all]
  for (let at = order.length - 1; at > 0; at--) {
    const other = random(at + 1)
    const one = order[at]!
    order[at] = order[other]!
    order[other] = one
  }
  return order
}

/** 97.5 % of a normal distribution are below. */
const Z = 1.96

interface Interval {
  readonly low: number
  readonly high: number
}

/** Wilson's 95 % interval of a share; `null` if nothing was asked. */
export function shareInterval(right: number, asked: number): Interval | null {
  if (asked === 0) return null
  const share = right / asked
  const scale = 1 + Z ** 2 / asked
  const middle = (share + Z ** 2 / (2 * asked)) / scale
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / asked + Z ** 2 / (4 * asked ** 2))
  return { low: middle - half, high: middle + half }
}

/**
 * The 95 % interval of a difference between two shares of the same questions (Agresti and Min,
 * 2005: half a question is added to each kind of pair).
 * @param more questions that only the first side fails at
 * @param fewer questions that only the second side fails at
 */
export function pairedInterval(more: number, fewer: number, asked: number): Interval {
  const [b, c, n] = [more + 0.5, fewer + 0.5, asked + 2]
  const middle = (b - c) / n
  const half = (Z / n) * Math.sqrt(b + c - (b - c) ** 2 / n)
  return { low: middle - half, high: middle + half }
}

/** An interval in percent. */
export function intervalText(interval: Interval | null): string {
  if (interval === null) return '–'
  const [low, high] = [interval.low, interval.high].map(each => (each * 100).toFixed(1))
  return `${low} to ${high}`
}

/** What the answers say of a construct. */
export interface ConstructRow {
  readonly construct: Construct
  /** Questions that were answered on both sides. */
  readonly asked: number
  readonly right: { readonly with: number; readonly without: number }
  /** Errors more with the construct, per question, and their interval. */
  readonly more: number
  readonly moreInterval: Interval | null
  /** Tokens for a text that has the construct; 0 if the interval holds zero. */
  readonly price: number
}

/** @param errorTokens tokens that a wrong answer costs an agent */
export function priceRows(answers: readonly Answered[], errorTokens: number): ConstructRow[] {
  return CONSTRUCTS.map(construct => {
    const both = new Map<string, Partial<Record<Answered['side'], boolean>>>()
    for (const { construct: other, seed, question, side, right } of answers) {
      if (other !== construct) continue
      const place = `${seed} ${question}`
      both.set(place, { ...both.get(place), [side]: right })
    }
    const all = [...both.values()].filter(each => 'with' in each && 'without' in each)
    const count = (isWith: boolean, isWithout: boolean) =>
      all.filter(each => each.with === isWith && each.without === isWithout).length
    const [failed, mended, solved] = [count(false, true), count(true, false), count(true, true)]
    const asked = all.length
    const moreInterval = asked === 0 ? null : pairedInterval(failed, mended, asked)
    const more = asked === 0 ? 0 : (failed - mended) / asked
    const isCertain = moreInterval !== null && moreInterval.low > 0
    return {
      ...{ construct, asked, more, moreInterval },
      right: { with: solved + mended, without: solved + failed },
      price: isCertain ? Math.round(more * errorTokens) : 0,
    }
  })
}

/** A section for a configuration, of the constructs that were asked about. */
export function pricesSection(rows: readonly ConstructRow[]): string {
  // Brackets have a price of each token, which `inline_json_cost` sets.
  const asked = rows.filter(row => row.asked > 0 && row.construct !== 'brackets')
  return ['[reading.prices]', ...asked.map(row => `${row.construct} = ${row.price}`)].join('\n')
}
