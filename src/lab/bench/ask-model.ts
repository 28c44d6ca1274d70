import { type ChatEndpoint, completeChat } from './chat-completion.ts'
import type { Fixture } from './fixtures.ts'
import type { Measured } from './measure.ts'

/** How a model answered the questions about texts: from the whole, and from what is left. */
export interface Asked {
  readonly questions: number
  readonly right_whole: number
  readonly right_left: number
  /** Questions with the same answer to both, right or wrong. */
  readonly same: number
}

const INSTRUCTION = 'Answer with the value alone, without words around it.'

/**
 * Asks the question of each fixture twice. An answer is right if it has the value as a word of
 * its own.
 * @throws Error if the endpoint does not answer, or not as the API says
 */
export async function askAll(
  fixtures: readonly Fixture[],
  measured: readonly Measured[],
  endpoint: ChatEndpoint,
  onDone: () => void,
): Promise<Asked> {
  const sums = { questions: 0, right_whole: 0, right_left: 0, same: 0 }
  for (const [index, fixture] of fixtures.entries()) {
    const left = measured[index]?.answer.content ?? ''
    const [fromWhole, fromLeft] = [
      await ask(fixture.text, fixture.question, endpoint),
      await ask(left, fixture.question, endpoint),
    ]
    sums.questions++
    if (isRight(fromWhole, fixture)) sums.right_whole++
    if (isRight(fromLeft, fixture)) sums.right_left++
    if (fromWhole.trim() === fromLeft.trim()) sums.same++
    onDone()
  }
  return sums
}

function isRight(given: string, { answer }: Fixture): boolean {
  return given.split(/[^\w]+/).includes(answer)
}

function ask(text: string, question: string, endpoint: ChatEndpoint): Promise<string> {
  return completeChat(endpoint, INSTRUCTION, `${text}\n\n${question}`)
}
