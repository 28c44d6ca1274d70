import {
  type ChatEndpoint,
  ChatRefusal,
  completeChat,
} from '../../src/lab/bench/chat-completion.ts'

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
