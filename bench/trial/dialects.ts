import type { Json } from '../../test/support/plain-readers/json.ts'
import { type Said, WHOLE } from '../../test/support/vendor-answers.ts'
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
  writeAnswer(answer: Answer, model: string): object
  /** @throws {Error} if it is no answer */
  readAnswer(body: Loose): Answer
}

const list = (value: Json | undefined) => (Array.isArray(value) ? (value as Loose[]) : [])
const number = (value: Json | undefined) => Number(value ?? 0)

/** A text, or the text of blocks. */
function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content
  return list(content)
    .map(({ text }) => String(text ?? ''))
    .join('')
}

function schemaOf({ required, optional }: Tool): Json {
  const texts = required.map(name => [name, { type: 'string' }] as const)
  const others = Object.entries(optional).map(([name, type]) => [name, { type }] as const)
  return { type: 'object', properties: Object.fromEntries([...texts, ...others]), required }
}

/** What a model says, in the shape of `vendor-answers`. */
const piecesOf = ({ said, calls }: Answer): readonly Said[] => [
  ...(said === '' ? [] : [{ text: said }]),
  ...calls.map(({ id, name, args }) => ({ call: name, id, input: args })),
]

/** Turns of messages: those of the model, each with the results that follow it. */
function turnsOf(
  messages: readonly Loose[],
  read: (message: Loose) => Pick<Turn, 'said' | 'calls'>,
  resultsIn: (message: Loose) => Turn['results'],
): readonly Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (message['role'] === 'assistant') turns.push({ ...read(message), results: [] })
    else if (last !== undefined) {
      turns[turns.length - 1] = { ...last, results: [...last.results, ...resultsIn(message)] }
    }
  }
  return turns
}

const MOST_OUTPUT = 8_192
const CACHED = { cache_control: { type: 'ephemeral' } }

export const ANTHROPIC: Dialect = {
  vendor: 'anthropic',
  path: '/v1/messages',
  headers: key => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  writeRequest({ prompt, turns }, { model, system, tools }) {
    const messages = turns.flatMap(({ message, calls, results }, at) => {
      const content = results.map(({ text, isError }, i) => ({
        ...{ type: 'tool_result', tool_use_id: calls[i]!.id, content: text },
        ...(isError && { is_error: true }),
        // The prompt up to the newest result is what the next request reads from the cache.
        ...(at === turns.length - 1 && i === results.length - 1 && CACHED),
      }))
      return [message!, { role: 'user', content }]
    })
    return {
      ...{ model, max_tokens: MOST_OUTPUT, system: [{ type: 'text', text: system, ...CACHED }] },
      tools: tools.map(tool => {
        return { name: tool.name, description: tool.description, input_schema: schemaOf(tool) }
      }),
      messages: [{ role: 'user', content: prompt }, ...messages],
    }
  },
  readRequest({ messages, tools }) {
    const [first, ...rest] = list(messages)
    const turns = turnsOf(rest, readBlocks, message =>
      list(message['content']).map(({ content, is_error }) => {
        return { text: textOf(content), isError: is_error === true }
      }),
    )
    const names = list(tools).map(({ name }) => String(name))
    return { prompt: textOf(first?.['content']), turns, tools: names }
  },
  writeAnswer(answer, model) {
    const { usage } = answer
    return {
      ...{ ...WHOLE.anthropic(piecesOf(answer), 'msg_1'), model },
      usage:
        usage === null
          ? undefined
          : {
              ...{ input_tokens: usage.fresh, output_tokens: usage.output },
              ...{
                cache_read_input_tokens: usage.read,
                cache_creation_input_tokens: usage.written,
              },
            },
    }
  },
  readAnswer(body) {
    if (body['type'] !== 'message') throw new Error('the provider sent no message')
    const usage = body['usage'] as Loose | null | undefined
    return {
      ...readBlocks(body),
      message: { role: 'assistant', content: list(body['content']) },
      usage: usage
        ? {
            ...{ fresh: number(usage['input_tokens']), output: number(usage['output_tokens']) },
            read: number(usage['cache_read_input_tokens']),
            written: number(usage['cache_creation_input_tokens']),
          }
        : null,
    }
  },
}

function readBlocks(message: Loose): Pick<Turn, 'said' | 'calls'> {
  const blocks = list(message['content'])
  const calls = blocks.flatMap(({ type, id, name, input }) =>
    type === 'tool_use' ? [{ id: String(id), name: String(name), args: input as Loose }] : [],
  )
  return { said: textOf(blocks.filter(({ type }) => type === 'text')), calls }
}

export const OPENAI: Dialect = {
  vendor: 'openai',
  path: '/v1/chat/completions',
  headers: key => ({ authorization: `Bearer ${key}` }),
  writeRequest({ prompt, turns }, { model, system, tools }) {
    const messages = turns.flatMap(({ message, calls, results }) => [
      message!,
      ...results.map(({ text }, at) => {
        return { role: 'tool', tool_call_id: calls[at]!.id, content: text }
      }),
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
    const turns = turnsOf(rest, readMessage, ({ content }) => {
      return [{ text: textOf(content), isError: false }]
    })
    const names = list(tools).map(tool => String((tool['function'] as Loose)['name']))
    return { prompt: textOf(first?.['content']), turns, tools: names }
  },
  writeAnswer(answer, model) {
    const { usage } = answer
    return {
      ...{ ...WHOLE.chat(piecesOf(answer), 'chat_1'), model },
      usage:
        usage === null
          ? undefined
          : {
              prompt_tokens: usage.fresh + usage.read + usage.written,
              completion_tokens: usage.output,
              prompt_tokens_details: { cached_tokens: usage.read },
            },
    }
  },
  readAnswer(body) {
    const [choice] = list(body['choices'])
    if (choice === undefined) throw new Error('the provider sent no choice')
    const message = choice['message'] as Loose
    const usage = body['usage'] as Loose | null | undefined
    const read = number((usage?.['prompt_tokens_details'] as Loose | undefined)?.['cached_tokens'])
    return {
      ...readMessage(message),
      message,
      usage: usage
        ? {
            ...{ fresh: number(usage['prompt_tokens']) - read, read, written: 0 },
            output: number(usage['completion_tokens']),
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
  return { said: textOf(message['content']), calls }
}

/** What a model wrote as arguments; nothing if that is not JSON. */
function readArguments(text: string): Loose {
  try {
    return JSON.parse(text) as Loose
  } catch {
    return {}
  }
}
