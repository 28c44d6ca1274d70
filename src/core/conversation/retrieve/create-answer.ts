import type { RouteName } from '../parse/scan-request.ts'
import { AnthropicAnswer } from './anthropic-answer.ts'
import { ChatAnswer } from './chat-answer.ts'
import { ResponsesAnswer } from './responses-answer.ts'
import type { RetrievingAnswer } from './retrieving-answer.ts'

/** An answer to a request of a route; `null` if its answers are not read. */
export function createRetrievingAnswer(route: RouteName): RetrievingAnswer | null {
  switch (route) {
    case 'anthropic_messages':
      return new AnthropicAnswer()
    case 'openai_chat':
      return new ChatAnswer()
    case 'openai_responses':
      return new ResponsesAnswer()
    default:
      return null
  }
}
