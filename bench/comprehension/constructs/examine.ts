import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { createRandom } from '../../support/random.ts'
import type { AnswersFile, Side } from './answers-file.ts'
import { isRight, type Pair, type PairQuestion } from './pair.ts'

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
