import {
  items,
  itemsOf,
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  RANGE,
  type Selection,
  textOf,
} from '../../json/bytes/json-node.ts'
import { type StringLiteral, stringsWithin } from '../../json/bytes/strings-within.ts'
import { LOWER_F, LOWER_N, LOWER_T, QUOTE } from '../../json/char-codes.ts'
import { requestForgets } from '../forgetting/request-forgets.ts'
import { speaksOfForgetting } from '../forgetting/speaks-of-forgetting.ts'
import {
  type FoundPlace,
  type ProgramResult,
  type ResultPlace,
  type ResultSource,
  type ToolCall,
  type ToolResultText,
  textsIn,
} from './tool-result-text.ts'

/**
 * Members that set how far a provider shall cache: Anthropic's, which gateways also pass on in the
 * shapes of OpenAI, and OpenAI's own.
 */
const BREAKPOINTS = ['cache_control', 'prompt_cache_breakpoint'] as const

/** Members that any message, block or part may have. */
export const BREAKPOINT_KEYS: Readonly<Record<string, Selection>> = Object.fromEntries(
  BREAKPOINTS.map(name => [name, RANGE]),
)

/** A list of parts with text; a string is read as well. */
export const TEXT_PARTS = items(members({ type: RANGE, text: RANGE, ...BREAKPOINT_KEYS }))

/** Who made a call; the results of programs carry it too. */
export const CALLER = members({ type: RANGE })

/** A value with more strings has rows of short ones, of which none becomes smaller by itself. */
const MAX_STRINGS = 256

/**
 * Calls of one message with one id, of which the next result answers `next`. Only `calls` changes,
 * and only while its message is read, so checkpoints share it.
 */
interface CallsOfId {
  readonly message: number
  readonly calls: ToolCall[]
  /** The first of them that a program made. */
  readonly byProgram: ToolCall | undefined
  readonly next: number
}

/** What a reader has found in the first messages, without the body. Never changes. */
export interface Checkpoint {
  /** How many messages. */
  readonly messages: number
  readonly allowsPrograms: boolean
  readonly found: readonly FoundPlace[]
  readonly cached: number
  readonly forPrograms: readonly ProgramResult[]
  readonly breakpoints: readonly JsonNode[]
  readonly isEdited: boolean
  readonly walls: number
  readonly callsAtWall: number
  readonly isInWall: boolean
  readonly calls: ReadonlyMap<string | undefined, CallsOfId>
  readonly firstTexts: ReadonlyMap<ToolCall, number>
  readonly called: number
  readonly results: number
  readonly opening: number | undefined
  readonly modelTurns: number
  readonly isModelLast: boolean
}

const AT_START: Omit<Checkpoint, 'allowsPrograms'> = {
  messages: 0,
  found: [],
  cached: 0,
  forPrograms: [],
  breakpoints: [],
  isEdited: false,
  walls: 0,
  callsAtWall: 0,
  isInWall: false,
  calls: new Map(),
  firstTexts: new Map(),
  called: 0,
  results: 0,
  opening: undefined,
  modelTurns: 0,
  isModelLast: false,
}

/** Where a reader begins. */
export interface ReaderStart {
  /** Whether programs of the model may have made calls that the body does not have. */
  readonly allowsPrograms?: boolean
  /** What an earlier turn has in the same first messages; absent: it begins with the first one. */
  readonly from?: Omit<Checkpoint, 'allowsPrograms'>
}

/** Collects calls and the texts of results, in the order in which a conversation has them. */
export class ConversationReader {
  readonly body: JsonBytes
  readonly allowsPrograms: boolean
  /** Results whose texts must not be changed, because programs get them. */
  readonly forPrograms: ProgramResult[]
  /** Breakpoints in the conversation; of blocks before those of what they are in. */
  readonly breakpoints: JsonNode[]
  /** Whether its client has the provider delete results, or names them so that it can. */
  isEdited: boolean
  /** Ends of what must not be referred to, and the calls before the last of them. */
  #walls: number
  #callsAtWall: number
  /** Whether the last part is a compaction. */
  #isInWall: boolean
  readonly #found: FoundPlace[]
  /** So many of the texts are in the cached prefix. */
  #cached: number
  /** By their ids; a call without one is in none. */
  readonly #calls: Map<string | undefined, CallsOfId>
  readonly #firstTexts: Map<ToolCall, number>
  #called: number
  #results: number
  #opening: number | undefined
  #modelTurns: number
  #isModelLast: boolean

  constructor(body: JsonBytes, { allowsPrograms = false, from = AT_START }: ReaderStart = {}) {
    this.body = body
    this.allowsPrograms = allowsPrograms
    this.forPrograms = [...from.forPrograms]
    this.breakpoints = [...from.breakpoints]
    this.isEdited = from.isEdited
    this.#walls = from.walls
    this.#callsAtWall = from.callsAtWall
    this.#isInWall = from.isInWall
    this.#found = [...from.found]
    this.#cached = from.cached
    this.#calls = new Map(from.calls)
    this.#firstTexts = new Map(from.firstTexts)
    this.#called = from.called
    this.#results = from.results
    this.#opening = from.opening
    this.#modelTurns = from.modelTurns
    this.#isModelLast = from.isModelLast
  }

  /** What was found up to here, for a body that begins with the same messages. */
  checkpoint(messages: number): Checkpoint {
    return {
      messages,
      allowsPrograms: this.allowsPrograms,
      found: [...this.#found],
      cached: this.#cached,
      forPrograms: [...this.forPrograms],
      breakpoints: [...this.breakpoints],
      isEdited: this.isEdited,
      walls: this.#walls,
      callsAtWall: this.#callsAtWall,
      isInWall: this.#isInWall,
      calls: new Map(this.#calls),
      firstTexts: new Map(this.#firstTexts),
      called: this.#called,
      results: this.#results,
      opening: this.#opening,
      modelTurns: this.#modelTurns,
      isModelLast: this.#isModelLast,
    }
  }

  /** The texts of all results up to here. */
  texts(): readonly ToolResultText[] {
    return textsIn(this.body, this.#found, this.#cached)
  }

  text(node: JsonNode | undefined): string | undefined {
    return textOf(this.body, node)
  }

  /** Whether the value is there, and neither `false` nor `null`. */
  isSet(node: JsonNode | undefined): boolean {
    const first = node === undefined ? LOWER_N : this.body[node.start]
    return first !== LOWER_N && first !== LOWER_F
  }

  /** A boolean. */
  flag(node: JsonNode | undefined): boolean | undefined {
    const first = node === undefined ? LOWER_N : this.body[node.start]
    return first === LOWER_T || first === LOWER_F ? first === LOWER_T : undefined
  }

  /** Counts a call, of whatever kind; gives how many stand before it. */
  passCall(): number {
    return this.#called++
  }

  /**
   * Adds a call. If messages share an id, the later one counts, because some models number their
   * calls again in each turn. Within a message, results answer such calls in their order, because
   * some models give all of theirs an empty id.
   */
  addCall(id: string | undefined, message: number, call: ToolCall): void {
    if (id === undefined) return
    const known = this.#calls.get(id)
    const byProgram = call.byProgram ? call : undefined
    if (known?.message !== message) {
      this.#calls.set(id, { message, calls: [call], byProgram, next: 0 })
      return
    }
    known.calls.push(call)
    this.#calls.set(id, { ...known, byProgram: known.byProgram ?? byProgram })
  }

  /** Forgets the call of an id. */
  forgetCall(id: string | undefined): void {
    this.#calls.delete(id)
  }

  /**
   * Takes the call that one more result with this id answers. If one of the calls with that id is a
   * program's, that one is taken, since it must not be missed.
   */
  takeCall(id: string | undefined): ToolCall | undefined {
    const known = this.#calls.get(id)
    if (known === undefined) return undefined
    const { calls, byProgram, next } = known
    this.#calls.set(id, { ...known, next: next + 1 })
    return byProgram ?? calls[Math.min(next, calls.length - 1)]
  }

  /** Messages up to the first of a user. */
  get opening(): number | undefined {
    return this.#opening
  }

  /** Notes whose message this is. */
  passMessage(role: string | undefined, message: number): void {
    if (role === 'user') this.#opening ??= message + 1
  }

  /** Messages of the model that stand together count as one. */
  get modelTurns(): number {
    return this.#modelTurns
  }

  /** Notes whether the model wrote the next message. */
  passSpeaker(isModel: boolean): void {
    if (isModel && !this.#isModelLast) this.#modelTurns++
    this.#isModelLast = isModel
  }

  /**
   * Begins a message or a part of one. It may be a compaction, by its type or by a member whose
   * name says so. Then nothing in it or after it may depend on what is before it, and nothing
   * after it on itself.
   */
  passWall(node: JsonNode): void {
    const type = this.text(memberOf(node, 'type')) ?? ''
    const isWall = speaksOfForgetting(type) || requestForgets(this.body, node)
    if (isWall || this.#isInWall) {
      this.#walls++
      this.#callsAtWall = this.#called
    }
    this.#isInWall = isWall
  }

  /** Counts a result, of whatever kind. */
  passResult(): void {
    this.#results++
  }

  /** Made, or consumed, by a program rather than by the model. */
  isProgram(node: JsonNode): boolean {
    const caller = memberOf(node, 'caller')
    if (caller === undefined || !this.isSet(caller)) return false
    return caller.doubled || this.text(memberOf(caller, 'type')) !== 'direct'
  }

  /** The texts of the result that was counted last: the string, or the parts of these types. */
  addTexts(
    content: JsonNode | undefined,
    at: Pick<ResultPlace, 'message' | 'block'>,
    source: ResultSource,
    types: ReadonlySet<string>,
  ): void {
    const parts = itemsOf(content)
    const add = this.#adder({ ...at, isWhole: parts.length <= 1 }, source)
    if (content !== undefined && this.body[content.start] === QUOTE) add(content, 0)
    for (const [index, part] of parts.entries()) {
      const text = this.#textOfPart(part, types)
      if (text !== undefined) add(text, index)
      this.addBreakpoints(part)
    }
  }

  /**
   * The same of a result whose content is JSON values, `undefined` for other parts: each of their
   * strings is a part.
   */
  addStrings(
    contents: readonly (JsonNode | undefined)[],
    at: Pick<ResultPlace, 'message' | 'block'>,
    source: ResultSource,
  ): void {
    const literals = contents.flatMap(content =>
      content === undefined ? [] : (stringsWithin(this.body, content, MAX_STRINGS) ?? []),
    )
    const isWhole = contents.length === 1 && literals.length === 1
    const add = this.#adder({ ...at, isWhole }, source)
    for (const [part, literal] of literals.entries()) add(literal, part)
  }

  #adder(at: Pick<ResultPlace, 'message' | 'block' | 'isWhole'>, source: ResultSource) {
    const { call } = source
    const isCut = call !== undefined && call.ordinal < this.#callsAtWall
    const place = { ...at, ordinal: this.#results - 1, walls: this.#walls, isCut }
    return ({ start, end }: StringLiteral, part: number) => {
      const firstOfCall = this.#firstTextOf(source.call)
      this.#found.push({ ...place, part, firstOfCall, start, end, source })
    }
  }

  /** The call of the next text, if no result answers the call yet. */
  #firstTextOf(call: ToolCall | undefined): number {
    const next = this.#found.length
    if (call === undefined) return next
    const first = this.#firstTexts.get(call) ?? next
    this.#firstTexts.set(call, first)
    return first
  }

  #textOfPart(part: JsonNode, types: ReadonlySet<string>): JsonNode | undefined {
    const type = part.doubled ? undefined : this.text(memberOf(part, 'type'))
    const text = memberOf(part, 'text')
    const isText = type !== undefined && types.has(type) && text !== undefined
    return isText && this.body[text.start] === QUOTE ? text : undefined
  }

  /** Everything found up to here is in the cached prefix, if the value is a breakpoint. */
  addBreakpoints(node: JsonNode): void {
    for (const name of BREAKPOINTS) {
      const breakpoint = memberOf(node, name)
      if (breakpoint === undefined) continue
      this.breakpoints.push(breakpoint)
      if (this.isSet(breakpoint)) this.endCachedPrefix()
    }
  }

  /** A block that does nothing else than to end the cached prefix. */
  addBreakpointBlock(block: JsonNode): void {
    this.breakpoints.push({ ...block, keyStart: block.start })
    this.endCachedPrefix()
  }

  endCachedPrefix(): void {
    this.#cached = this.#found.length
  }
}
