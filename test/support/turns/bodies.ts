import type { ContextResult } from '../../../bench/support/corpus.ts'
import type { RouteName } from '../../../src/core/dialects/lookup.ts'

/** A call and what came of it, as far as a request tells. */
export type Step = Pick<ContextResult, 'tool' | 'args' | 'text' | 'isError'>

/** What a client says in each of its turns beside the conversation. */
export interface ClientTerms {
  readonly model: string
  /** Names of the tools that it defines. */
  readonly tools: readonly string[]
}

/** Steps after which the user says something. */
const STEPS_A_PROMPT = 6

/**
 * Writes one message, as it stands while it is marked as the end of what is cached, and as it
 * stands in later turns.
 */
type Message = (marked: boolean) => object

interface Shape {
  said(text: string): Message
  step(step: Step, id: string): readonly Message[]
  body(messages: readonly object[], terms: ClientTerms): object
}

const MARK = { cache_control: { type: 'ephemeral' } }

/** A text: a string while nothing is to be said of it, else a part that can be marked. */
const text = (content: string, marked: boolean, type = 'text') =>
  marked ? [{ type, text: content, ...MARK }] : content

/**
 * Anthropic's: clients mark the block of a result, or if its content is written as parts the
 * last of them.
 */
const anthropic: Shape = {
  said: content => marked => ({ role: 'user', content: text(content, marked) }),
  step: ({ tool, args, text: result, isError }, id) => [
    () => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input: args }] }),
    marked => {
      const inParts = id.endsWith('0')
      const block = {
        type: 'tool_result',
        tool_use_id: id,
        content: inParts ? text(result, marked) : result,
        ...(isError ? { is_error: true } : {}),
        ...(marked && !inParts ? MARK : {}),
      }
      return { role: 'user', content: [block] }
    },
  ],
  body: (messages, { model, tools }) => ({
    model,
    max_tokens: 8192,
    stream: false,
    system: [{ type: 'text', text: 'You are an agent.', ...MARK }],
    tools: tools.map(name => ({ name, input_schema: { type: 'object' } })),
    // As Claude Code does.
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    messages,
  }),
}

/** OpenAI's chats; gateways pass breakpoints on in them too. */
const chat: Shape = {
  said: content => marked => ({ role: 'user', content: text(content, marked) }),
  step: ({ tool, args, text: result }, id) => [
    () => {
      const called = { name: tool, arguments: JSON.stringify(args ?? {}) }
      const tool_calls = [{ id, type: 'function', function: called }]
      return { role: 'assistant', content: null, tool_calls }
    },
    marked => ({ role: 'tool', tool_call_id: id, content: text(result, marked) }),
  ],
  body: (messages, { model, tools }) => ({
    model,
    tools: tools.map(name => ({ type: 'function', function: { name, parameters: {} } })),
    messages,
  }),
}

/** OpenAI's responses, with the whole input in each request. */
const responses: Shape = {
  said: content => marked => ({ role: 'user', content: text(content, marked, 'input_text') }),
  step: ({ tool, args, text: result }, id) => [
    () => {
      const call = { call_id: id, name: tool, arguments: JSON.stringify(args ?? {}) }
      return { type: 'function_call', ...call }
    },
    marked => {
      const output = text(result, marked, 'input_text')
      return { type: 'function_call_output', call_id: id, output }
    },
  ],
  body: (messages, { model, tools }) => ({
    model,
    store: false,
    tools: tools.map(name => ({ type: 'function', name, parameters: {} })),
    input: messages,
  }),
}

/** Gemini's; providers cache by themselves, and the model is in the path. */
const gemini: Shape = {
  said: content => () => ({ role: 'user', parts: [{ text: content }] }),
  step: ({ tool, args, text: output }, id) => [
    () => ({ role: 'model', parts: [{ functionCall: { id, name: tool, args: args ?? {} } }] }),
    () => ({
      role: 'user',
      parts: [{ functionResponse: { id, name: tool, response: { output } } }],
    }),
  ],
  body: (messages, { tools }) => ({
    tools: [{ functionDeclarations: tools.map(name => ({ name })) }],
    contents: messages,
  }),
}

const POINT = { cachePoint: { type: 'default' } }

/** Bedrock's Converse: a block of its own marks the end of what is cached. */
const converse: Shape = {
  said: content => marked => ({
    role: 'user',
    content: [{ text: content }, ...(marked ? [POINT] : [])],
  }),
  step: ({ tool, args, text: result, isError }, id) => [
    () => ({
      role: 'assistant',
      content: [{ toolUse: { toolUseId: id, name: tool, input: args ?? {} } }],
    }),
    marked => {
      const status = isError ? { status: 'error' } : {}
      const block = { toolResult: { toolUseId: id, content: [{ text: result }], ...status } }
      return { role: 'user', content: [block, ...(marked ? [POINT] : [])] }
    },
  ],
  body: (messages, { tools }) => ({
    system: [{ text: 'You are an agent.' }, POINT],
    toolConfig: { tools: tools.map(name => ({ toolSpec: { name, inputSchema: { json: {} } } })) },
    messages,
  }),
}

const SHAPES: Readonly<Record<RouteName, Shape>> = {
  anthropic_messages: anthropic,
  openai_chat: chat,
  openai_responses: responses,
  gemini_generate: gemini,
  bedrock_converse: converse,
}

/**
 * The request after so many steps, as an agent sends it: the whole conversation again, with cache
 * breakpoints at its last message and at the one that was the last in the turn before.
 * @param end steps that it has; at least 1
 * @param before steps that the turn before had, 0 for the first turn
 */
export function turnBody(
  route: RouteName,
  steps: readonly Step[],
  { end, before }: { readonly end: number; readonly before: number },
  terms: ClientTerms,
): Uint8Array<ArrayBuffer> {
  const { said, step, body } = SHAPES[route]
  const messages = [said('Do what is asked.')]
  let lastBefore = 0
  for (const [index, each] of steps.slice(0, end).entries()) {
    if (index > 0 && index % STEPS_A_PROMPT === 0) messages.push(said(`Go on with ${index}.`))
    messages.push(...step(each, `call_${index}`))
    if (index + 1 === before) lastBefore = messages.length - 1
  }
  const marks = new Set([lastBefore, messages.length - 1])
  const written = messages.map((message, index) => message(marks.has(index)))
  return new TextEncoder().encode(JSON.stringify(body(written, terms)))
}
