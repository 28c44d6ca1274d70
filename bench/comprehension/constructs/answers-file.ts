import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CONSTRUCTS, type Construct } from '../../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { type Interval, pairedInterval, shareInterval } from '../model-results.ts'
import { isRight, type Pair, type PairQuestion } from './pair.ts'

/** Raised when pairs or questions change: answers to other ones are not taken up. */
const VERSION = 1

/** The side of a pair that a question was asked about. */
export type Side = 'with' | 'without'

/** What a model answered. */
export interface Answered {
  readonly construct: string
  readonly seed: number
  /** The question's place in its pair. */
  readonly question: number
  readonly side: Side
  readonly right: boolean
  readonly given: string
}

/** The answers of one model, a line each, so that a run that was stopped goes on. */
export class AnswersFile {
  readonly #path: string
  readonly #answers = new Map<string, Answered>()

  /** @param path the file, which need not be there */
  constructor(path: string) {
    this.#path = path
    if (!existsSync(path)) return
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const answer = readLine(line)
      if (answer !== null) this.#answers.set(keyOf(answer), answer)
    }
  }

  get all(): readonly Answered[] {
    return [...this.#answers.values()]
  }

  has(place: Omit<Answered, 'right' | 'given'>): boolean {
    return this.#answers.has(keyOf(place))
  }

  add(answer: Answered): void {
    this.#answers.set(keyOf(answer), answer)
    mkdirSync(dirname(this.#path), { recursive: true })
    appendFileSync(this.#path, `${JSON.stringify({ version: VERSION, ...answer })}\n`)
  }
}

/** Returns `null` for an answer of another version, or half a line. */
function readLine(line: string): Answered | null {
  try {
    const { version, ...answer } = JSON.parse(line) as Answered & { version: number }
    return version === VERSION ? answer : null
  } catch {
    return null
  }
}

function keyOf({ construct, seed, question, side }: Omit<Answered, 'right' | 'given'>): string {
  return `${construct} ${seed} ${question} ${side}`
}

/** Answers a question about a text. */
export type Ask = (text: string, question: string) => Promise<string>

interface Limits {
  /** Tokens of prompts and answers, at most. */
  readonly maxTokens: number
  readonly counter: TokenCounter
}

interface Task {
  readonly pair: Pair
  readonly question: PairQuestion
  readonly at: number
}

const SHUFFLE_SEED = 20_26

/**
 * Asks each question about both texts of its pair, in a shuffled order, and keeps the answers. What
 * the file has already is not asked again. Stops before a question whose prompts would exceed the
 * tokens. Returns whether all were asked.
 * @throws Error if the model does not answer
 */
export async function askAll(
  pairs: readonly Pair[],
  ask: Ask,
  answers: AnswersFile,
  { maxTokens, counter }: Limits,
): Promise<boolean> {
  const random = createRandom(SHUFFLE_SEED)
  const tasks = shuffle(
    pairs.flatMap(pair => pair.questions.map((question, at): Task => ({ pair, question, at }))),
    random,
  )
  let spent = 0
  for (const { pair, question, at } of tasks) {
    const sides = shuffle<Side>(['with', 'without'], random)
    for (const side of sides) {
      const place = { construct: pair.construct, seed: pair.seed, question: at, side }
      if (answers.has(place)) continue
      const text = side === 'with' ? pair.with.content : pair.without
      spent += counter.count(text) + counter.count(question.text)
      if (spent > maxTokens) return false
      const given = await ask(text, question.text)
      spent += counter.count(given)
      answers.add({ ...place, right: isRight(question, given), given })
    }
  }
  return true
}

/** Fisher and Yates. */
function shuffle<T>(all: readonly T[], random: (below: number) => number): T[] {
  const shuffled = [...all]
  for (let at = shuffled.length - 1; at > 0; at--) {
    const other = random(at + 1)
    const one = shuffled[at]!
    shuffled[at] = shuffled[other]!
    shuffled[other] = one
  }
  return shuffled
}

/** What the answers say of a construct. */
export interface ConstructRow {
  readonly construct: Construct
  /** Questions that were answered on both sides. */
  readonly asked: number
  readonly right: { readonly with: number; readonly without: number }
  readonly intervals: { readonly with: Interval | null; readonly without: Interval | null }
  /** Errors more with the construct, per question, and their interval. */
  readonly more: number
  readonly moreInterval: Interval | null
  /** Tokens for a text that has the construct; 0 if the interval holds zero. */
  readonly price: number
}

/** @param errorTokens tokens that a wrong answer costs an agent */
export function priceRows(answers: readonly Answered[], errorTokens: number): ConstructRow[] {
  return CONSTRUCTS.map(construct => rowOf(construct, answers, errorTokens))
}

function rowOf(
  construct: Construct,
  answers: readonly Answered[],
  errorTokens: number,
): ConstructRow {
  const both = new Map<string, { with?: boolean; without?: boolean }>()
  for (const { construct: other, seed, question, side, right } of answers) {
    if (other !== construct) continue
    const place = `${seed} ${question}`
    both.set(place, { ...both.get(place), [side]: right })
  }
  const asked = [...both.values()].filter(
    each => each.with !== undefined && each.without !== undefined,
  )
  const count = asked.length
  const right = {
    with: asked.filter(each => each.with).length,
    without: asked.filter(each => each.without).length,
  }
  const failed = asked.filter(each => !each.with && each.without).length
  const mended = asked.filter(each => each.with && !each.without).length
  const moreInterval = count === 0 ? null : pairedInterval(failed, mended, count)
  const more = count === 0 ? 0 : (failed - mended) / count
  const isCertain = moreInterval !== null && moreInterval.low > 0
  return {
    construct,
    asked: count,
    right,
    intervals: {
      with: shareInterval(right.with, count),
      without: shareInterval(right.without, count),
    },
    more,
    moreInterval,
    price: isCertain ? Math.round(more * errorTokens) : 0,
  }
}

/** A section for a configuration, of the constructs that were asked about. */
export function pricesSection(rows: readonly ConstructRow[]): string {
  // Brackets have a price of each token, which `inline_json_cost` sets.
  const asked = rows.filter(row => row.asked > 0 && row.construct !== 'brackets')
  return ['[reading.prices]', ...asked.map(row => `${row.construct} = ${row.price}`)].join('\n')
}
