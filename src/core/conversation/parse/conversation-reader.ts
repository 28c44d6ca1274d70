import {
  items,
  itemsOf,
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  parseAt,
  RANGE,
  type Selection,
  textOf,
} from '../../json/bytes/json-node.ts'
import { type StringLiteral, stringsWithin } from '../../json/bytes/strings-within.ts'
import { LOWER_F, LOWER_N, LOWER_T, QUOTE } from '../../json/char-codes.ts'
import {
  FoundText,
  type ProgramResult,
  type ResultPlace,
  type ResultSource,
  type ToolCall,
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

/** Calls of one message with one id, of which the next result answers `next`. */
interface CallsOfId {
  readonly message: number
  readonly calls: ToolCall[]
  /** The first of them that a program made. */
  byProgram: ToolCall | undefined
  next: number
}

/** Collects calls and the texts of results, in the order in which a conversation has them. */
export class ConversationReader {
  readonly body: JsonBytes
  readonly found: FoundText[] = []
  /** Results whose texts must not be changed, because programs get them. */
  readonly forPrograms: ProgramResult[] = []
  /** Breakpoints in the conversation; of blocks before those of what they are in. */
  readonly breakpoints: JsonNode[] = []
  /** Whether its client has the provider delete results, or names them so that it can. */
  isEdited = false
  readonly #calls = new Map<string, CallsOfId>()
  readonly #firstTexts = new Map<ToolCall, number>()
  #called = 0
  #results = 0
  #opening: number | undefined

  constructor(body: JsonBytes) {
    this.body = body
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
    known.byProgram ??= byProgram
  }

  /** Forgets the call of an id. */
  forgetCall(id: string | undefined): void {
    if (id !== undefined) this.#calls.delete(id)
  }

  /**
   * Takes the call that one more result with this id answers. If one of the calls with that id is a
   * program's, that one is taken, since it must not be missed.
   */
  takeCall(id: string | undefined): ToolCall | undefined {
    const known = id === undefined ? undefined : this.#calls.get(id)
    if (known === undefined) return undefined
    const { calls, byProgram } = known
    const inOrder = calls[Math.min(known.next++, calls.length - 1)]
    return byProgram ?? inOrder
  }

  /** Arguments that are a value of the body. */
  argsOf(value: JsonNode | undefined): Pick<ToolCall, 'args' | 'argsAt'> {
    const args = () => (value === undefined ? undefined : parseAt(this.body, value))
    return { args: once(args), argsAt: value }
  }

  /** Arguments that are a text, which mostly holds JSON. */
  argsIn(value: JsonNode | undefined): Pick<ToolCall, 'args' | 'argsAt'> {
    const args = () => {
      const text = this.text(value)
      if (text === undefined) return undefined
      try {
        return JSON.parse(text)
      } catch {
        return text
      }
    }
    return { args: once(args), argsAt: value }
  }

  /** Messages up to the first of a user. */
  get opening(): number | undefined {
    return this.#opening
  }

  /** Notes whose message this is. */
  passMessage(role: string | undefined, message: number): void {
    if (role === 'user') this.#opening ??= message + 1
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
    const place = { ...at, ordinal: this.#results - 1 }
    return (text: StringLiteral, part: number) => {
      const firstOfCall = this.#firstTextOf(source.call)
      this.found.push(new FoundText(this.body, text, { ...place, part, firstOfCall }, source))
    }
  }

  /** The call of the next text, if no result answers the call yet. */
  #firstTextOf(call: ToolCall | undefined): number {
    const next = this.found.length
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
    for (let i = this.found.length - 1; i >= 0 && !this.found[i]!.inCachedPrefix; i--) {
      this.found[i]!.inCachedPrefix = true
    }
  }
}

/**
 * The value is computed once, because many results may answer one call, and its arguments may be
 * most of the body.
 */
function once<T>(make: () => T): () => T {
  let result: { readonly value: T } | undefined
  return () => {
    result ??= { value: make() }
    return result.value
  }
}
