import { completeChat, type Endpoint } from '../../src/cli/bench/chat-completion.ts'

const INSTRUCTION =
  'Answer the question from the data alone. Give only the answer, without explanation. ' +
  'Separate several values by commas.'

/**
 * The model's answer to a question about a text.
 * @throws Error if the endpoint does not answer, or not as the API says
 */
export function ask(endpoint: Endpoint, data: string, question: string): Promise<string> {
  return completeChat(endpoint, INSTRUCTION, `${data}\n\nQuestion: ${question}`)
}
