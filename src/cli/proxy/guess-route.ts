import type { RouteName } from '../../core/conversation/parse/scan-request.ts'

type Fields = Readonly<Record<string, unknown>>

/** Signs that only the requests of one endpoint have, and their names in messages. */
const SIGNS: readonly (readonly [RouteName, string, (request: Request) => boolean])[] = [
  [
    'anthropic_messages',
    'blocks of type tool_use or tool_result',
    ({ blocks }) => blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result'),
  ],
  [
    'anthropic_messages',
    'tools with input_schema',
    ({ tools }) => tools.some(tool => 'input_schema' in tool),
  ],
  [
    'anthropic_messages',
    'system beside messages',
    ({ body: { system } }) =>
      typeof system === 'string' || fieldsIn(system).some(block => 'type' in block),
  ],
  [
    'openai_chat',
    'messages of the role tool or function',
    ({ messages }) => messages.some(({ role }) => role === 'tool' || role === 'function'),
  ],
  [
    'openai_chat',
    'messages of the role system or developer',
    ({ messages }) => messages.some(({ role }) => role === 'system' || role === 'developer'),
  ],
  [
    'openai_chat',
    'tool_calls in messages',
    ({ messages }) =>
      messages.some(message => 'tool_calls' in message || 'function_call' in message),
  ],
  ['openai_chat', 'tools with function', ({ tools }) => tools.some(tool => 'function' in tool)],
  ['openai_responses', 'input', ({ body }) => 'input' in body],
  ['gemini_generate', 'contents', ({ body }) => 'contents' in body],
  ['bedrock_converse', 'toolConfig', ({ body }) => 'toolConfig' in body],
  [
    'bedrock_converse',
    'blocks with toolUse or toolResult',
    ({ blocks }) => blocks.some(block => 'toolUse' in block || 'toolResult' in block),
  ],
]

interface Request {
  readonly body: Fields
  readonly messages: readonly Fields[]
  /** The blocks of all messages. */
  readonly blocks: readonly Fields[]
  readonly tools: readonly Fields[]
}

export interface Guess {
  readonly route: RouteName
  /** What distinguishes it from the others. */
  readonly sign: string
}

/**
 * The endpoint that a request body is for; `null` if there is no sign, or signs contradict each
 * other.
 */
export function guessRoute(body: unknown): Guess | null {
  if (!isFields(body)) return null
  const messages = fieldsIn(body['messages'])
  const blocks = messages.flatMap(({ content }) => fieldsIn(content))
  const request = { body, messages, blocks, tools: fieldsIn(body['tools']) }
  const found = SIGNS.filter(([, , holds]) => holds(request))
  const [first] = found
  if (first === undefined || found.some(([route]) => route !== first[0])) return null
  return { route: first[0], sign: first[1] }
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : []
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
