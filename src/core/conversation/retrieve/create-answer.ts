import { bodyRules, type RouteName } from '../../dialects/lookup.ts'
import { AnthropicAnswer } from './anthropic-answer.ts'
import { ChatAnswer } from './chat-answer.ts'
import { ResponsesAnswer } from './responses-answer.ts'
import type { RetrievingAnswer } from './retrieving-answer.ts'

/** An answer to a request of a route; `null` if its answers are not read. */
export function createRetrievingAnswer(route: RouteName): RetrievingAnswer | null {
  switch (bodyRules(route).retrieving?.turns) {
    case 'blocks':
      return new AnthropicAnswer()
    case 'choices':
      return new ChatAnswer()
    case 'items':
      return new ResponsesAnswer()
    default:
      return null
  }
}
