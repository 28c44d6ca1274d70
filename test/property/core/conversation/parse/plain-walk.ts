import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'

/** A text of a tool result as a walk over the parsed body meets it. */
export interface WalkedText {
  readonly message: number
  readonly block: number
  readonly part: number
  readonly text: string
  readonly tool: string | undefined
  readonly callId: string | undefined
  readonly args: unknown
  readonly isError: boolean
  inCachedPrefix: boolean
  /** Puts another text in its place. */
  replace(text: string): void
}

type Fields = Record<string, unknown>
interface Call {
  readonly tool: string | undefined
  readonly args: unknown
  readonly byProgram: boolean
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined
const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false
const isProgram = (node: Fields): boolean =>
  isSet(node['caller']) && fieldsOf(node['caller'])['type'] !== 'direct'

function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const LISTS: Readonly<Partial<Record<RouteName, string>>> = {
  openai_responses: 'input',
  gemini_generate: 'contents',
}

/** All results of a parsed request; `null` if it is no request to the route. */
export function walk(route: RouteName, request: unknown): WalkedText[] | null {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return null
  const body = request as Fields
  const key = LISTS[route] ?? 'messages'
  if (!Array.isArray(body[key])) return route === 'openai_responses' ? [] : null
  const walker = new Walker(body)
  listOf(body[key]).forEach((each, message) => {
    walker[route](fieldsOf(each), message)
  })
  if (route === 'anthropic_messages' && isSet(body['cache_control'])) walker.cacheAll()
  return walker.found
}

/** The member by either of its names, and whether it has both. */
function both(part: Fields, name: string, other: string): readonly [unknown, boolean] {
  const isTwice = part[name] !== undefined && part[other] !== undefined
  return [part[name] === undefined ? part[other] : part[name], isTwice]
}

/** Answers name their calls by id, or by the name of the function. */
function answerName(id: unknown, name: unknown): string | undefined {
  if (typeof id === 'string' && id !== '') return `by id: ${id}`
  return typeof name === 'string' ? `by name: ${name}` : undefined
}

class Walker {
  readonly found: WalkedText[] = []
  readonly #request: Fields
  readonly #calls: Record<string, { message: number; of: Call[]; answered: number }> = {}

  constructor(request: Fields) {
    this.#request = request
  }

  cacheAll(): void {
    for (const each of this.found) each.inCachedPrefix = true
  }

  anthropic_messages(message: Fields, index: number): void {
    listOf(message['content']).forEach((each, block) => {
      const fields = fieldsOf(each)
      const { type, id, name, input } = fields
      if (type === 'tool_use' && message['role'] === 'assistant') {
        this.#call(id, index, { tool: stringOf(name), args: input, byProgram: isProgram(fields) })
      }
      if (type === 'tool_result' && message['role'] === 'user') {
        const callId = stringOf(fields['tool_use_id'])
        const call = this.#callOf(callId)
        if (!call?.byProgram && !isProgram(fields)) {
          const isError = isSet(fields['is_error'])
          const result = { message: index, block, callId, isError, tool: call?.tool }
          this.#texts(fields, 'content', ['text'], { ...result, args: call?.args })
        }
      }
      this.#breakpoints(fields)
    })
    this.#breakpoints(message)
  }

  openai_chat(message: Fields, index: number): void {
    const { role, name, content } = message
    if (role === 'assistant') {
      for (const each of listOf(message['tool_calls']).map(fieldsOf)) {
        const called = each['function'] === undefined ? each['custom'] : each['function']
        const { arguments: args, input, name: tool } = fieldsOf(called)
        const given = each['function'] === undefined ? input : args
        this.#call(each['id'], index, {
          tool: stringOf(tool),
          args: parsed(given),
          byProgram: false,
        })
      }
      const old = fieldsOf(message['function_call'])
      const byName = typeof old['name'] === 'string' ? `by name: ${old['name']}` : undefined
      const args = parsed(old['arguments'])
      this.#call(byName, index, { tool: stringOf(old['name']), args, byProgram: false })
    }
    if (role === 'tool' || role === 'function') {
      const callId = role === 'tool' ? stringOf(message['tool_call_id']) : undefined
      const known = role === 'tool' ? callId : `by name: ${stringOf(name) ?? 'none'}`
      const call = this.#callOf(known)
      const tool = call?.tool ?? stringOf(name)
      const result = { message: index, block: 0, callId, isError: false, tool, args: call?.args }
      this.#texts(message, 'content', ['text'], result)
    } else for (const part of listOf(content)) this.#breakpoints(fieldsOf(part))
    this.#breakpoints(message)
  }

  openai_responses(item: Fields, index: number): void {
    const { type, name, call_id, arguments: given, input, id } = item
    const types = ['text', 'input_text', 'output_text']
    const tool = stringOf(name)
    if (type === 'function_call' || type === 'custom_tool_call') {
      const args = parsed(type === 'function_call' ? given : input)
      this.#call(call_id, index, { tool, args, byProgram: isProgram(item) })
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      const callId = stringOf(call_id)
      const call = this.#callOf(callId)
      if (!(call?.byProgram ?? this.#programs()) && !isProgram(item)) {
        const result = { message: index, block: 0, callId, isError: false, tool: call?.tool }
        this.#texts(item, 'output', types, { ...result, args: call?.args })
      }
    } else if (type === 'mcp_call') {
      const result = { callId: stringOf(id), isError: isSet(item['error']), args: parsed(given) }
      this.#texts(item, 'output', types, { ...result, message: index, block: 0, tool })
    }
    for (const part of listOf(item['content'])) this.#breakpoints(fieldsOf(part))
    this.#breakpoints(item)
  }

  gemini_generate(content: Fields, index: number): void {
    listOf(content['parts']).forEach((each, block) => {
      const part = fieldsOf(each)
      const [call, twice] = both(part, 'functionCall', 'function_call')
      if (call !== undefined) {
        const { id, name, args } = fieldsOf(call)
        const key = answerName(id, name)
        if (!twice) this.#call(key, index, { tool: stringOf(name), args, byProgram: false })
        else if (key !== undefined) delete this.#calls[key]
      }
      const [answer] = both(part, 'functionResponse', 'function_response')
      if (answer === undefined) return
      const { id, name, response } = fieldsOf(answer)
      const found = this.#callOf(answerName(id, name))
      const isError = isSet(fieldsOf(response)['error'])
      const tool = found?.tool ?? stringOf(name)
      const callId = stringOf(id)
      const result = { message: index, block, callId, isError, tool, args: found?.args }
      this.#strings(fieldsOf(answer), 'response', { next: 0 }, result)
    })
  }

  bedrock_converse(message: Fields, index: number): void {
    listOf(message['content']).forEach((each, block) => {
      const { toolUse, toolResult, cachePoint } = fieldsOf(each)
      if (toolUse !== undefined) {
        const { toolUseId, name, input } = fieldsOf(toolUse)
        this.#call(toolUseId, index, { tool: stringOf(name), args: input, byProgram: false })
      }
      if (toolResult !== undefined) {
        const { toolUseId, status, content } = fieldsOf(toolResult)
        const callId = stringOf(toolUseId)
        const call = this.#callOf(callId)
        const isError = status === 'error'
        const of = { message: index, block, callId, isError, tool: call?.tool, args: call?.args }
        const next = { next: 0 }
        for (const item of listOf(content).map(fieldsOf)) {
          this.#strings(item, item['text'] === undefined ? 'json' : 'text', next, of)
        }
      }
      if (cachePoint !== undefined) this.cacheAll()
    })
  }

  /** The strings of any value, in their order. */
  #strings(
    node: Fields,
    key: string,
    counter: { next: number },
    result: Omit<WalkedText, 'text' | 'part' | 'inCachedPrefix' | 'replace'>,
  ): void {
    const held = node[key]
    if (typeof held === 'string') {
      const replace = (text: string): void => {
        node[key] = text
      }
      this.found.push({
        ...result,
        text: held,
        part: counter.next++,
        inCachedPrefix: false,
        replace,
      })
    } else if (typeof held === 'object' && held !== null) {
      for (const each of Object.keys(held)) this.#strings(held as Fields, each, counter, result)
    }
  }

  #programs(): boolean {
    return listOf(this.#request['tools']).some(
      tool => fieldsOf(tool)['type'] === 'programmatic_tool_calling',
    )
  }

  /** Calls of one message may have one id; later messages may use it anew. */
  #call(id: unknown, message: number, call: Call): void {
    if (typeof id !== 'string') return
    if (this.#calls[id]?.message === message) this.#calls[id].of.push(call)
    else this.#calls[id] = { message, of: [call], answered: 0 }
  }

  #callOf(id: string | undefined): Call | undefined {
    const calls = id === undefined ? undefined : this.#calls[id]
    if (calls === undefined) return undefined
    const [inOrder = calls.of.at(-1)] = calls.of.slice(calls.answered++)
    return calls.of.find(({ byProgram }) => byProgram) ?? inOrder
  }

  #texts(
    node: Fields,
    key: string,
    types: readonly unknown[],
    result: Omit<WalkedText, 'text' | 'part' | 'inCachedPrefix' | 'replace'>,
  ): void {
    const add = (text: string, part: number, replace: (text: string) => void): void => {
      this.found.push({ ...result, text, part, inCachedPrefix: false, replace })
    }
    const content = node[key]
    if (typeof content === 'string') {
      add(content, 0, text => {
        node[key] = text
      })
    }
    listOf(content).forEach((each, part) => {
      const fields = fieldsOf(each)
      if (types.includes(fields['type']) && typeof fields['text'] === 'string') {
        add(fields['text'], part, text => {
          fields['text'] = text
        })
      }
      this.#breakpoints(fields)
    })
  }

  #breakpoints(node: Fields): void {
    if (isSet(node['cache_control']) || isSet(node['prompt_cache_breakpoint'])) this.cacheAll()
  }
}
