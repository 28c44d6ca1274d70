/** The call that a tool result answers, as far as the messages name it. */
export interface ToolCall {
  readonly tool?: string
  /** As the vendor gives them: an object, or JSON text. */
  readonly args?: unknown
}

/** An object of a request, of which nothing is known. */
export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Calls by their ids. An id that is used again names the later call from there on. */
export type CallsById = Map<string, ToolCall>

/**
 * Notes the calls that a message makes: `tool_calls` of OpenAI, `tool_use` blocks of Anthropic.
 * What is not of either shape is passed over.
 */
export function noteCalls(message: Fields, calls: CallsById): void {
  for (const call of fieldsIn(message['tool_calls'])) {
    const { name, arguments: args } = isFields(call['function']) ? call['function'] : {}
    note(calls, call['id'], name, args)
  }
  for (const part of fieldsIn(message['content'])) {
    if (part['type'] === 'tool_use') note(calls, part['id'], part['name'], part['input'])
  }
}

function note(calls: CallsById, id: unknown, name: unknown, args: unknown): void {
  if (typeof id !== 'string' || typeof name !== 'string') return
  calls.set(id, { tool: name, ...(args === undefined ? {} : { args }) })
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : []
}

/** The call that an id names. If there is none, the call has the tool's name in the result. */
export function callOf(id: unknown, name: unknown, calls: CallsById): ToolCall {
  const call = typeof id === 'string' ? calls.get(id) : undefined
  return call ?? (typeof name === 'string' ? { tool: name } : {})
}

/** Arguments that were read, by their own object or, if they are a text, by their call's. */
const known = new WeakMap<object, unknown>()

/**
 * The arguments as a value; `undefined` if they are no JSON. Read once: many results may answer one
 * call.
 */
export function argsOf(call: ToolCall): unknown {
  const { args } = call
  const owner = typeof args === 'object' && args !== null ? args : call
  if (!known.has(owner)) known.set(owner, readArgs(args))
  return known.get(owner)
}

function readArgs(args: unknown): unknown {
  try {
    // Numbers that keep their spelling become plain ones.
    return JSON.parse(typeof args === 'string' ? args : (JSON.stringify(args) ?? ''))
  } catch {
    return undefined
  }
}
