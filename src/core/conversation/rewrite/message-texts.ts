import { createHash } from 'node:crypto'
import type { Fields } from '../../dialects/bodies/route.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { letsForget } from '../../dialects/forgetting/lets-forget.ts'
import { speaksOfForgetting } from '../../dialects/forgetting/speaks-of-forgetting.ts'

/** A text payload of a conversation. */
export interface MessageText {
  readonly text: string
  readonly from: 'tool' | 'user' | 'system' | 'assistant' | 'other'
  /** The call that a tool's text answers, and its id. */
  readonly call: ToolCall
  readonly callId?: string | undefined
  readonly isError: boolean
  /** The place of a tool's text as a reader counts. */
  readonly result?: ResultAt
}

/** The place of a tool's text, as `ToolResultText` has it. */
export type ResultAt = Pick<
  ToolResultText,
  'ordinal' | 'part' | 'isWhole' | 'callsAhead' | 'firstOfCall' | 'walls'
>

/** The place of a text, without the text. */
type TextPath = Omit<MessageText, 'text' | 'result'> & {
  /** How many results stand before it. */
  readonly ordinal?: number
  /** The last compaction before it. */
  readonly wall: Wall
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
  const seen = atStart()
  return messages.map(message => {
    if (!isFields(message)) return message
    passWall(message, seen)
    const walls = noteCalls(message, seen, noteCall)
    return mapContent(message, placeOf(message, seen), seen, write, walls)
  })
}

/** Where the last compaction stands. */
interface Wall {
  /** How many there are up to it. */
  readonly count: number
  /** Calls before it. */
  readonly calls: number
}

const NO_WALL: Wall = { count: 0, calls: 0 }

function atStart(): Seen {
  const counts = { called: 0, results: 0, texts: 0, wall: NO_WALL, isInWall: false }
  return { calls: new Map(), firstTexts: new Map(), ...counts }
}

/** Begins a message or a part of one, like `ConversationReader.passWall`. */
function passWall(fields: Fields, seen: Seen): void {
  const { type } = fields
  const isWall =
    (typeof type === 'string' && speaksOfForgetting(type)) ||
    Object.keys(fields).some(key => speaksOfForgetting(key) && letsForget(key, fields[key]))
  if (isWall || seen.isInWall) seen.wall = { count: seen.wall.count + 1, calls: seen.called }
  seen.isInWall = isWall
}

/** What the messages had until now. */
interface Seen {
  /** An id that is used again names the later call from there on. */
  readonly calls: Map<string, ToolCall>
  /** Calls and results of whatever kind. */
  called: number
  results: number
  wall: Wall
  /** Whether the last part is a compaction. */
  isInWall: boolean
  /** Texts of tools. */
  texts: number
  /** The first text that answers a call. */
  readonly firstTexts: Map<ToolCall, number>
}

const ROLES: Readonly<Record<string, TextPath['from']>> = Object.assign(Object.create(null), {
  tool: 'tool',
  function: 'tool',
  user: 'user',
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
})

function placeOf(message: Fields, seen: Seen): TextPath {
  const { role } = message
  const from = (typeof role === 'string' && ROLES[role]) || 'other'
  const isError = message['is_error'] === true
  const { wall } = seen
  if (from !== 'tool') return { from, call: {}, isError, wall }
  const id = message['tool_call_id']
  const call = callOf(id, message['name'], seen)
  return { from, call, callId: textOf(id), isError, ordinal: seen.results++, wall }
}

/**
 * An object with other texts in its `content`.
 * @param walls the last compaction before each part, if that is not the same for all
 */
function mapContent(
  holder: Fields,
  place: TextPath,
  seen: Seen,
  write: WriteText,
  walls: readonly Wall[] = [],
): Fields {
  const { content } = holder
  if (typeof content === 'string')
    return replaced(holder, 'content', write(textAt(content, place, seen, 0, true)))
  if (!Array.isArray(content)) return holder
  const isWhole = content.length <= 1
  const parts = content.map((part, index) =>
    isFields(part)
      ? mapPart(
          part,
          { ...place, wall: walls[index] ?? place.wall },
          seen,
          { index, isWhole },
          write,
        )
      : part,
  )
  return parts.every((part, index) => part === content[index])
    ? holder
    : replaced(holder, 'content', parts)
}

function mapPart(
  part: Fields,
  place: TextPath,
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
  const { wall } = place
  const own = { from: 'tool', call, callId: textOf(id), isError, ordinal, wall } as const
  return mapContent(part, own, seen, write)
}

/** A text with its place, which counts it. */
function textAt(
  text: string,
  { ordinal, wall, ...place }: TextPath,
  seen: Seen,
  part: number,
  isWhole: boolean,
): MessageText {
  if (ordinal === undefined) return { ...place, text }
  const { call } = place
  const firstOfCall = seen.firstTexts.get(call) ?? seen.texts
  seen.firstTexts.set(call, firstOfCall)
  seen.texts++
  const { ordinal: called } = call
  const callsAhead = called === undefined || called < wall.calls ? undefined : called - ordinal
  const walls = wall.count
  return { ...place, text, result: { ordinal, part, isWhole, callsAhead, firstOfCall, walls } }
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

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Notes the calls that a message makes: `tool_calls` of OpenAI, `tool_use` blocks of Anthropic.
 * Other shapes are only counted. If two of its calls share an id, or a program made a call, it
 * cannot be told which call a reader sees before a result.
 * @returns the last compaction before each part of its content
 */
function noteCalls(message: Fields, seen: Seen, noteCall?: NoteCall): readonly Wall[] {
  const first = seen.called
  const { content } = message
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  // With calls beside the content, all of that comes before them.
  const isBefore = fieldsIn(message['tool_calls']).length > 0
  if (isBefore) for (const part of fieldsIn(parts)) passWall(part, seen)
  for (const call of fieldsIn(message['tool_calls'])) {
    const { name, arguments: args } = isFields(call['function']) ? call['function'] : {}
    noteCall?.(name, args)
    note(seen, call['id'], { name, args, first })
  }
  const walls = parts.map(part => {
    if (!isFields(part)) return seen.wall
    if (!isBefore) passWall(part, seen)
    const { type, id, name, input, caller } = part
    const isDirect = !isFields(caller) || caller['type'] === 'direct'
    if (type === 'tool_use') {
      noteCall?.(name, input)
      note(seen, id, { name, args: input, first, isDirect })
    } else if (typeof type === 'string' && type.endsWith('tool_use')) seen.called++
    return seen.wall
  })
  if (isFields(message['function_call'])) seen.called++
  return walls
}

/** What a message says of a call, and the first call of that message. */
interface CallInMessage {
  readonly name: unknown
  readonly args: unknown
  readonly first: number
  readonly isDirect?: boolean
}

function note(
  seen: Seen,
  id: unknown,
  { name, args, first, isDirect = true }: CallInMessage,
): void {
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
