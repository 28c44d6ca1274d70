import { type JsonBytes, type JsonNode, parseAt, textOf } from '../../json/bytes/json-node.ts'

/** A call that a conversation holds. Of the body it has only offsets. */
export interface ToolCall {
  readonly tool: string | undefined
  /** The place of the arguments. */
  readonly argsAt: JsonNode | undefined
  /** Whether they are a text, which mostly holds JSON. */
  readonly areText: boolean
  /** How many calls stand before it. */
  readonly ordinal: number
  /**
   * Whether a program of the model made the call. The program gets the result, so its text must not
   * be changed.
   */
  readonly byProgram: boolean
}

/** The place of a text as a reader counts, from 0. */
export interface ResultPlace {
  /** The message of the conversation, or the item of the input. */
  readonly message: number
  /** The block of the message; 0 if a message is one result. */
  readonly block: number
  /**
   * The part of the result's content, images and the like counted; 0 if the content is a string.
   */
  readonly part: number
  /** Whether the result's content has nothing else. */
  readonly isWhole: boolean
  /** How many results stand before this one, those counted that are left alone. */
  readonly ordinal: number
  /** The first text that answers the same call: its index among all that are found. */
  readonly firstOfCall: number
  /** Differs from that of a result with a compaction between: neither may refer to the other. */
  readonly walls: number
}

/** A result that a program gets instead of the model. */
export interface ProgramResult extends Pick<ResultPlace, 'message' | 'block'> {
  readonly tool: string | undefined
  readonly callId: string | undefined
}

/** A text of a tool result in a request body: one JSON string literal that may be replaced. */
export interface ToolResultText extends ResultPlace {
  /** Bytes `[start, end)` of the literal, quotes included. */
  readonly start: number
  readonly end: number
  /**
   * The text of the literal, decoded at each call. It may have lone surrogates, which UTF-8 cannot
   * encode.
   */
  text(): string
  /** The tool that was called; `undefined` if the body does not name it. */
  readonly tool: string | undefined
  readonly callId: string | undefined
  /**
   * How many more calls than results precede it, its own call not counted; `undefined` if that is
   * not known, or the model does not have the call any more.
   */
  readonly callsAhead: number | undefined
  /** The arguments of the call; `undefined` if the body does not have them. */
  args(): unknown
  /** The bytes of the arguments; none if the body does not have them. */
  argsBytes(): Uint8Array
  readonly isError: boolean
  /** Whether it is at or before a breakpoint of the prompt cache. */
  readonly inCachedPrefix: boolean
}

const NO_BYTES = new Uint8Array(0)

/** The facts of a result for a reader of messages. */
export interface ResultSource {
  readonly call: ToolCall | undefined
  readonly tool: string | undefined
  readonly callId: string | undefined
  readonly isError: boolean
}

/** A text that was found, without the body that it is in. */
export interface FoundPlace extends ResultPlace {
  readonly start: number
  readonly end: number
  readonly source: ResultSource
  /** Whether a compaction stands between its call and it. */
  readonly isCut: boolean
}

/** The arguments of calls in one body, each read once: many results may answer one call. */
class CallArguments {
  readonly #body: JsonBytes
  readonly #known = new Map<ToolCall, unknown>()

  constructor(body: JsonBytes) {
    this.#body = body
  }

  /** A text that is no JSON is returned unchanged. */
  of(call: ToolCall): unknown {
    const value = this.#known.get(call)
    if (value !== undefined) return value
    const read = this.#read(call)
    this.#known.set(call, read)
    return read
  }

  #read({ argsAt, areText }: ToolCall): unknown {
    if (argsAt === undefined) return undefined
    if (!areText) return parseAt(this.#body, argsAt)
    const text = textOf(this.#body, argsAt)
    if (text === undefined) return undefined
    try {
      return JSON.parse(text)
    } catch {
      return text
    }
  }
}

/** @param cached so many of the first ones are in the cached prefix */
export function textsIn(
  body: JsonBytes,
  found: readonly FoundPlace[],
  cached: number,
): readonly ToolResultText[] {
  const args = new CallArguments(body)
  return found.map((each, index) => new FoundText(body, each, args, index < cached))
}

class FoundText implements ToolResultText {
  readonly start: number
  readonly end: number
  readonly message: number
  readonly block: number
  readonly part: number
  readonly isWhole: boolean
  readonly ordinal: number
  readonly firstOfCall: number
  readonly walls: number
  readonly inCachedPrefix: boolean
  readonly #isCut: boolean
  readonly #body: JsonBytes
  readonly #source: ResultSource
  readonly #args: CallArguments

  constructor(body: JsonBytes, found: FoundPlace, args: CallArguments, inCachedPrefix: boolean) {
    this.#body = body
    this.start = found.start
    this.end = found.end
    this.message = found.message
    this.block = found.block
    this.part = found.part
    this.isWhole = found.isWhole
    this.ordinal = found.ordinal
    this.firstOfCall = found.firstOfCall
    this.walls = found.walls
    this.#isCut = found.isCut
    this.inCachedPrefix = inCachedPrefix
    this.#source = found.source
    this.#args = args
  }

  get tool(): string | undefined {
    return this.#source.tool
  }

  get callId(): string | undefined {
    return this.#source.callId
  }

  get callsAhead(): number | undefined {
    const { call } = this.#source
    return call === undefined || this.#isCut ? undefined : call.ordinal - this.ordinal
  }

  get isError(): boolean {
    return this.#source.isError
  }

  text(): string {
    return parseAt(this.#body, this) as string
  }

  args(): unknown {
    const { call } = this.#source
    return call === undefined ? undefined : this.#args.of(call)
  }

  argsBytes(): Uint8Array {
    const at = this.#source.call?.argsAt
    return at === undefined ? NO_BYTES : this.#body.subarray(at.start, at.end)
  }
}
