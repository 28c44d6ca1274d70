import { createHash } from 'node:crypto'
import type { ToolResultText } from '../parse/tool-result-text.ts'

/** A text payload of a conversation. */
export interface MessageText {
  readonly text: string
  readonly from: 'tool' | 'user' | 'system' | 'assistant' | 'other'
  /** The call that a tool's text answers, and its id. */
  readonly call: ToolCall
  readonly callId?: string | undefined
  readonly isError: boolean
  /** Of a tool's text: its place as a reader counts. */
  readonly result?: ResultAt
}

/** The place of a tool's text, as `ToolResultText` has it. */
export type ResultAt = Pick<
  ToolResultText,
  'ordinal' | 'part' | 'isWhole' | 'callsAhead' | 'firstOfCall'
>

/** The place of a text, without the text. */
type Place = Omit<MessageText, 'text' | 'result'> & {
  /** Of a result: how many stand before it. */
  readonly ordinal?: number
}

/** Returns the replacement of a text, or the same text if nothing changes. */
export type WriteText = (text: MessageText) => string

/** Is told of each call, before the texts of its message. */
export type NoteCall = (name: unknown, args: unknown) => void

/**
 * The messages with other texts. Visited, in order, are a message's `content` if it is a string,
 * the `text` of its `text` parts, and both again in the `content` of `tool_result` parts. Nothing
 * else is visited, so everything else stays unchanged, with its fields in their order. A message
 * without a new text is the very same object.
 */
export function mapTexts(
  messages: readonly unknown[],
  write: WriteText,
  noteCall?: NoteCall,
): unknown[] {
  const seen: Seen = { calls: new Map(), called: 0, results: 0, texts: 0, firstTexts: new Map() }
  return messages.map(message => {
    if (!isFields(message)) return message
    noteCalls(message, seen, noteCall)
    return mapContent(message, placeOf(message, seen), seen, write)
  })
}

/** What the messages had until now. */
interface Seen {
  /** An id that is used again names the later call from there on. */
  readonly calls: Map<string, ToolCall>
  /** Calls and results of whatever kind. */
  called: number
  results: number
  /** Texts of tools. */
  texts: number
  /** The first text that answers a call. */
  readonly firstTexts: Map<ToolCall, number>
}

const ROLES: Readonly<Record<string, Place['from']>> = Object.assign(Object.create(null), {
  tool: 'tool',
  function: 'tool',
  user: 'user',
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
})

function placeOf(message: Fields, seen: Seen): Place {
  const { role } = message
  const from = (typeof role === 'string' && ROLES[role]) || 'other'
  const isError = message['is_error'] === true
  if (from !== 'tool') return { from, call: {}, isError }
  const id = message['tool_call_id']
  const call = callOf(id, message['name'], seen)
  return { from, call, callId: textOf(id), isError, ordinal: seen.results++ }
}

/** An object with other texts in its `content`. */
function mapContent(holder: Fields, place: Place, seen: Seen, write: WriteText): Fields {
  const { content } = holder
  if (typeof content === 'string')
    return replaced(holder, 'content', write(textAt(content, place, seen, 0, true)))
  if (!Array.isArray(content)) return holder
  const isWhole = content.length <= 1
  const parts = content.map((part, index) =>
    isFields(part) ? mapPart(part, place, seen, { index, isWhole }, write) : part,
  )
  return parts.every((part, index) => part === content[index])
    ? holder
    : replaced(holder, 'content', parts)
}

function mapPart(
  part: Fields,
  place: Place,
  seen: Seen,
  { index, isWhole }: { readonly index: number; readonly isWhole: boolean },
  write: WriteText,
): Fields {
  const { type, text } = part
  if (type === 'text' && typeof text === 'string') {
    return replaced(part, 'text', write(textAt(text, place, seen, index, isWhole)))
  }
  const isResult = typeof type === 'string' && type.endsWith('tool_result')
  const ordinal = isResult ? seen.results++ : 0
  if (type !== 'tool_result') return part
  const id = part['tool_use_id']
  const call = callOf(id, undefined, seen)
  const isError = place.isError || part['is_error'] === true
  return mapContent(part, { from: 'tool', call, callId: textOf(id), isError, ordinal }, seen, write)
}

/** A text with its place, which counts it. */
function textAt(
  text: string,
  { ordinal, ...place }: Place,
  seen: Seen,
  part: number,
  isWhole: boolean,
): MessageText {
  if (ordinal === undefined) return { ...place, text }
  const { call } = place
  const firstOfCall = seen.firstTexts.get(call) ?? seen.texts
  seen.firstTexts.set(call, firstOfCall)
  seen.texts++
  const callsAhead = call.ordinal === undefined ? undefined : call.ordinal - ordinal
  return { ...place, text, result: { ordinal, part, isWhole, callsAhead, firstOfCall } }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** A spread keeps the order of fields, and makes `__proto__` a field like any other. */
function replaced(holder: Fields, field: string, value: unknown): Fields {
  return holder[field] === value ? holder : { ...holder, [field]: value }
}

/** The call that a tool result answers, as far as the messages name it. */
interface ToolCall {
  readonly tool?: string
  /** As the vendor gives them: an object, or JSON text. */
  readonly args?: unknown
  /** How many calls stand before it; absent if it cannot be told which call a result answers. */
  readonly ordinal?: number
}

/** An object of a request, of which nothing is known. */
type Fields = Readonly<Record<string, unknown>>

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Notes the calls that a message makes: `tool_calls` of OpenAI, `tool_use` blocks of Anthropic.
 * Other shapes are only counted. If two of its calls share an id, or a program made a call, it
 * cannot be told which call a reader sees before a result.
 */
function noteCalls(message: Fields, seen: Seen, noteCall?: NoteCall): void {
  const first = seen.called
  for (const call of fieldsIn(message['tool_calls'])) {
    const { name, arguments: args } = isFields(call['function']) ? call['function'] : {}
    noteCall?.(name, args)
    note(seen, call['id'], { name, args, first })
  }
  for (const part of fieldsIn(message['content'])) {
    const { type, id, name, input, caller } = part
    const isDirect = !isFields(caller) || caller['type'] === 'direct'
    if (type === 'tool_use') {
      noteCall?.(name, input)
      note(seen, id, { name, args: input, first, isDirect })
    } else if (typeof type === 'string' && type.endsWith('tool_use')) seen.called++
  }
  if (isFields(message['function_call'])) seen.called++
}

/** What a message says of a call, and the first call of that message. */
interface NamedCall {
  readonly name: unknown
  readonly args: unknown
  readonly first: number
  readonly isDirect?: boolean
}

function note(seen: Seen, id: unknown, { name, args, first, isDirect = true }: NamedCall): void {
  const ordinal = seen.called++
  if (typeof id !== 'string' || typeof name !== 'string') return
  const before = seen.calls.get(id)
  const isTwice = before !== undefined && (before.ordinal ?? first) >= first
  const isKnown = isDirect && !isTwice
  seen.calls.set(id, {
    tool: name,
    ...(args === undefined ? {} : { args }),
    ...(isKnown ? { ordinal } : {}),
  })
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : []
}

/** The call that an id names. If there is none, the call has the tool's name in the result. */
function callOf(id: unknown, name: unknown, { calls }: Seen): ToolCall {
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

/**
 * Counts the texts after the last message of the assistant. A gateway sends a conversation again at
 * each turn; these texts are new in it.
 */
export function countNewTexts(messages: readonly unknown[]): number {
  const last = messages.findLastIndex(message => roleOf(message) === 'assistant')
  let count = 0
  mapTexts(messages.slice(last + 1), ({ text }) => {
    count++
    return text
  })
  return count
}

/**
 * Identifies a conversation: SHA-256, hexadecimal, over its texts up to the first message of a
 * user.
 */
export function openingOf(messages: readonly unknown[]): string {
  const first = messages.findIndex(message => roleOf(message) === 'user')
  const opening = createHash('sha256')
  mapTexts(messages.slice(0, first + 1), ({ from, text }) => {
    opening.update(`${from} ${text.length} ${text}`)
    return text
  })
  return opening.digest('hex')
}

function roleOf(message: unknown): unknown {
  return isFields(message) ? message['role'] : undefined
}
