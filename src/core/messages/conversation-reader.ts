import { LOWER_F, LOWER_N, LOWER_T, QUOTE } from '../value/char-codes.ts'
import { itemsOf, type JsonBytes, type JsonNode, memberOf, parseAt, textOf } from './json-node.ts'
import { items, members, RANGE, type Selection } from './selection.ts'
import {
  FoundText,
  type ProgramResult,
  type ResultPlace,
  type ResultSource,
  type ToolCall,
} from './tool-result-text.ts'

/**
 * Members that say how far a provider shall cache: Anthropic's, which gateways pass on in the shapes of OpenAI too,
 * and OpenAI's own.
 */
const BREAKPOINTS = ['cache_control', 'prompt_cache_breakpoint'] as const

/** What may stand beside the members of any message, block or part. */
export const BREAKPOINT_KEYS: Readonly<Record<string, Selection>> = Object.fromEntries(
  BREAKPOINTS.map(name => [name, RANGE]),
)

/** A list of parts with text; a string is read as well. */
export const TEXT_PARTS = items(members({ type: RANGE, text: RANGE, ...BREAKPOINT_KEYS }))

/** Who made a call; the results of programs carry it too. */
export const CALLER = members({ type: RANGE })

/** Collects calls and the texts of results, in the order in which a conversation has them. */
export class ConversationReader {
  readonly body: JsonBytes
  readonly found: FoundText[] = []
  /** Results whose texts are not ours to change. */
  readonly forPrograms: ProgramResult[] = []
  /** Breakpoints in the conversation; of blocks before those of what they are in. */
  readonly breakpoints: JsonNode[] = []
  readonly #calls = new Map<string, ToolCall>()
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

  /** A call from here on; of two with one id the later counts, as some models number theirs anew in each turn. */
  addCall(id: string | undefined, call: ToolCall): void {
    if (id !== undefined) this.#calls.set(id, call)
  }

  call(id: string | undefined): ToolCall | undefined {
    return id === undefined ? undefined : this.#calls.get(id)
  }

  /** Arguments that are a value of the body. */
  argsOf(value: JsonNode | undefined): Pick<ToolCall, 'args' | 'argsAt'> {
    const args = () => (value === undefined ? undefined : parseAt(this.body, value))
    return { args, argsAt: value }
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
    return { args, argsAt: value }
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
    at: Omit<ResultPlace, 'part' | 'ordinal'>,
    source: ResultSource,
    types: ReadonlySet<string>,
  ): void {
    const place = { ...at, ordinal: this.#results - 1 }
    if (content !== undefined && this.body[content.start] === QUOTE) {
      this.found.push(new FoundText(this.body, content, { ...place, part: 0 }, source))
    }
    for (const [index, part] of itemsOf(content).entries()) {
      const text = this.#textOfPart(part, types)
      if (text !== undefined) {
        this.found.push(new FoundText(this.body, text, { ...place, part: index }, source))
      }
      this.addBreakpoints(part)
    }
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

  endCachedPrefix(): void {
    for (let i = this.found.length - 1; i >= 0 && !this.found[i]!.inCachedPrefix; i--) {
      this.found[i]!.inCachedPrefix = true
    }
  }
}
