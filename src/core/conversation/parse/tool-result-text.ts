import { type JsonBytes, type JsonNode, parseAt } from '../../json/bytes/json-node.ts'
import type { StringLiteral } from '../../json/bytes/strings-within.ts'

/** A call that a conversation holds. */
export interface ToolCall {
  readonly tool: string | undefined
  /**
   * The arguments as a value. A text that is no JSON is returned unchanged. Returns `undefined` if
   * there are none.
   */
  args(): unknown
  /** The place of the arguments. */
  readonly argsAt: JsonNode | undefined
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
   * not known.
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

/**
 * A text that was found. A breakpoint later in the body may still put it into the cached prefix.
 */
export class FoundText implements ToolResultText {
  readonly start: number
  readonly end: number
  readonly message: number
  readonly block: number
  readonly part: number
  readonly isWhole: boolean
  readonly ordinal: number
  readonly firstOfCall: number
  inCachedPrefix = false
  readonly #body: JsonBytes
  readonly #source: ResultSource

  constructor(body: JsonBytes, literal: StringLiteral, place: ResultPlace, source: ResultSource) {
    this.#body = body
    this.start = literal.start
    this.end = literal.end
    this.message = place.message
    this.block = place.block
    this.part = place.part
    this.isWhole = place.isWhole
    this.ordinal = place.ordinal
    this.firstOfCall = place.firstOfCall
    this.#source = source
  }

  get tool(): string | undefined {
    return this.#source.tool
  }

  get callId(): string | undefined {
    return this.#source.callId
  }

  get callsAhead(): number | undefined {
    const { call } = this.#source
    return call === undefined ? undefined : call.ordinal - this.ordinal
  }

  get isError(): boolean {
    return this.#source.isError
  }

  text(): string {
    return parseAt(this.#body, this) as string
  }

  args(): unknown {
    return this.#source.call?.args()
  }

  argsBytes(): Uint8Array {
    const at = this.#source.call?.argsAt
    return at === undefined ? NO_BYTES : this.#body.subarray(at.start, at.end)
  }
}
