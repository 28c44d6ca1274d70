import type { Json } from '../../test/support/plain-readers/json.ts'
import type { Tool } from './world.ts'

/** A call of a tool as a model made it. */
export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** What a model said, the calls in it, and what they gave. */
export interface Turn {
  readonly said: string
  readonly calls: readonly ModelCall[]
  readonly results: readonly { readonly text: string; readonly isError: boolean }[]
  /** The model's message as it came, which is sent again unchanged. */
  readonly message?: Json
}

export interface Conversation {
  readonly prompt: string
  readonly turns: readonly Turn[]
}

/** Tokens of an answer as its provider counts them, by price. */
export interface Usage {
  readonly fresh: number
  readonly read: number
  readonly written: number
  readonly output: number
}

export interface Answer extends Omit<Turn, 'results'> {
  /** `null` if the provider does not say. */
  readonly usage: Usage | null
}

type Loose = { readonly [key: string]: Json }
export interface Terms {
  readonly model: string
  readonly system: string
  readonly tools: readonly Tool[]
}

/** How an API writes conversations and answers: for the agent, and for a model that is played. */
export interface Dialect {
  readonly vendor: 'anthropic' | 'openai'
  readonly path: string
  headers(key: string): Readonly<Record<string, string>>
  writeRequest(conversation: Conversation, terms: Terms): Json
  readRequest(body: Loose): Conversation & { readonly tools: readonly string[] }
  writeAnswer(answer: Answer, model: string): Json
  /** @throws {Error} if it is no answer */
  readAnswer(body: Loose): Answer
}

const MOST_OUTPUT = 8_192
const list = (value: Json | undefined) => (Array.isArray(value) ? (value as Loose[]) : [])
const number = (value: Json | undefined) => Number(value ?? 0)

function schemaOf({ required, optional }: Tool): Json {
  const texts = required.map(name => [name, { type: 'string' }] as const)
  const others = Object.entries(optional).map(([name, type]) => [name, { type }] as const)
  return { type: 'object', properties: Object.fromEntries([...texts, ...others]), required }
}

const CACHED = { cache_control: { type: 'ephemeral' } }

export const ANTHROPIC: Dialect = {
  vendor: 'anthropic',
  path: '/v1/messages',
  headers: key => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  writeRequest({ prompt, turns }, { model, system, tools }) {
    const messages = turns.flatMap(({ message, calls, results }, at) => {
      const blocks = results.map(({ text, isError }, i) => ({
        ...{ type: 'tool_result', tool_use_id: calls[i]!.id, content: text },
        ...(isError ? { is_error: true } : {}),
        // The prompt up to the newest result is what the next request reads from the cache.
        ...(at === turns.length - 1 && i === results.length - 1 ? CACHED : {}),
      }))
      return [message!, { role: 'user', content: blocks }]
    })
    return {
      ...{ model, max_tokens: MOST_OUTPUT, system: [{ type: 'text', text: system, ...CACHED }] },
      tools: tools.map(tool => {
        const { name, description } = tool
        return { name, description, input_schema: schemaOf(tool) }
      }),
      messages: [{ role: 'user', content: prompt }, ...messages],
    }
  },
  readRequest({ messages, tools }) {
    const [first, ...rest] = list(messages)
    const turns: Turn[] = []
    for (const { role, content } of rest) {
      const blocks = list(content)
      if (role === 'assistant') turns.push({ ...readBlocks(blocks), results: [] })
      else {
        const results = blocks.map(block => ({
          text: textOf(block['content']!),
          isError: block['is_error'] === true,
        }))
        turns[turns.length - 1] = { ...turns.at(-1)!, results }
      }
    }
    return {
      prompt: textOf(first!['content']!),
      turns,
      tools: list(tools).map(({ name }) => String(name)),
    }
  },
  writeAnswer({ said, calls, usage }, model) {
    const uses = calls.map(({ id, name, args }) => ({
      type: 'tool_use',
      id,
      name,
      input: args as Json,
    }))
    return {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model },
      content: [...(said === '' ? [] : [{ type: 'text', text: said }]), ...uses],
      ...{ stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      ...(usage && {
        usage: {
          ...{ input_tokens: usage.fresh, output_tokens: usage.output },
          cache_read_input_tokens: usage.read,
          cache_creation_input_tokens: usage.written,
        },
      }),
    }
  },
  readAnswer(body) {
    if (body['type'] !== 'message') throw new Error('the provider sent no message')
    const usage = body['usage'] as Loose | undefined
    const content = list(body['content'])
    return {
      ...readBlocks(content),
      message: { role: 'assistant', content },
      usage: usage
        ? {
            fresh: number(usage['input_tokens']),
            read: number(usage['cache_read_input_tokens']),
            written: number(usage['cache_creation_input_tokens']),
            output: number(usage['output_tokens']),
          }
        : null,
    }
  },
}

function readBlocks(blocks: readonly Loose[]): Pick<Turn, 'said' | 'calls'> {
  const texts = blocks.flatMap(({ type, text }) => (type === 'text' ? [String(text)] : []))
  const calls = blocks.flatMap(({ type, id, name, input }) =>
    type === 'tool_use' ? [{ id: String(id), name: String(name), args: input as Loose }] : [],
  )
  return { said: texts.join(''), calls }
}

/** A text, or the text of blocks. */
function textOf(content: Json): string {
  if (typeof content === 'string') return content
  return list(content)
    .map(({ text }) => String(text ?? ''))
    .join('')
}

export const OPENAI: Dialect = {
  vendor: 'openai',
  path: '/v1/chat/completions',
  headers: key => ({ authorization: `Bearer ${key}` }),
  writeRequest({ prompt, turns }, { model, system, tools }) {
    const messages = turns.flatMap(({ message, calls, results }) => [
      message!,
      ...results.map(({ text }, at) => ({
        role: 'tool',
        tool_call_id: calls[at]!.id,
        content: text,
      })),
    ])
    return {
      model,
      tools: tools.map(tool => {
        const { name, description } = tool
        return { type: 'function', function: { name, description, parameters: schemaOf(tool) } }
      }),
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: prompt },
        ...messages,
      ],
    }
  },
  readRequest({ messages, tools }) {
    const [, first, ...rest] = list(messages)
    const turns: Turn[] = []
    for (const message of rest) {
      if (message['role'] === 'assistant') turns.push({ ...readMessage(message), results: [] })
      else {
        const last = turns.at(-1)!
        const results = [...last.results, { text: textOf(message['content']!), isError: false }]
        turns[turns.length - 1] = { ...last, results }
      }
    }
    const names = list(tools).map(tool => String((tool['function'] as Loose)['name']))
    return { prompt: textOf(first!['content']!), turns, tools: names }
  },
  writeAnswer({ said, calls, usage }, model) {
    const tool_calls = calls.map(({ id, name, args }) => ({
      ...{ id, type: 'function' },
      function: { name, arguments: JSON.stringify(args) },
    }))
    const message = {
      role: 'assistant',
      content: said,
      ...(calls.length > 0 ? { tool_calls } : {}),
    }
    return {
      ...{ id: 'chat_1', object: 'chat.completion', created: 0, model },
      choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
      ...(usage && {
        usage: {
          prompt_tokens: usage.fresh + usage.read + usage.written,
          completion_tokens: usage.output,
          prompt_tokens_details: { cached_tokens: usage.read },
        },
      }),
    }
  },
  readAnswer(body) {
    const [choice] = list(body['choices'])
    if (choice === undefined) throw new Error('the provider sent no choice')
    const message = choice['message'] as Loose
    const usage = body['usage'] as Loose | undefined
    const read = number((usage?.['prompt_tokens_details'] as Loose | undefined)?.['cached_tokens'])
    return {
      ...readMessage(message),
      message,
      usage: usage
        ? {
            fresh: number(usage['prompt_tokens']) - read,
            ...{ read, written: 0, output: number(usage['completion_tokens']) },
          }
        : null,
    }
  },
}

function readMessage(message: Loose): Pick<Turn, 'said' | 'calls'> {
  const calls = list(message['tool_calls']).map(({ id, function: called }) => {
    const { name, arguments: args } = called as Loose
    return { id: String(id), name: String(name), args: readArguments(String(args)) }
  })
  return { said: textOf(message['content'] ?? ''), calls }
}

/** What a model wrote as arguments; nothing if that is not JSON. */
function readArguments(text: string): Loose {
  try {
    return JSON.parse(text) as Loose
  } catch {
    return {}
  }
}
