import { hash } from 'node:crypto'
import { toBytes } from '../base/text-bytes.ts'
import { argumentBodies } from '../sessions/lines/argument-bodies.ts'
import { stringBodies, stringName } from '../sessions/lines/string-bodies.ts'
import type { Exchange } from './transcript.ts'

/** A request whose content is at hand. */
export type ContentRequest = Exchange['request'] & { readonly content: string }

/** A result that an agent was given. */
export interface GivenResult {
  readonly request: ContentRequest
  readonly answer: Exchange['answer']
  /** SHA-256 of the unchanged content, in hexadecimal. */
  readonly identity: string
}

/** A text that an agent has before it: a result, or what it gave to a tool itself. */
export interface KnownText {
  readonly identity: string
  readonly content: string
  /** The tool, or `tool.argument`. */
  readonly name: string | undefined
  /** The arguments of the call; absent for what was given to it. */
  readonly args?: unknown
  /** Which call it belongs to, counted from 0. */
  readonly position: number
  readonly isError: boolean
}

/** Digits that every reference has at least. */
const REF_DIGITS = 8

/** Identity of a content: SHA-256 of its bytes. */
export function identityOf(content: string): string {
  return hash('sha256', toBytes(content).bytes, 'hex')
}

/** The contexts of all sessions. */
export class AgentContexts {
  readonly #main = new Map<string, AgentContext>()
  readonly #side = new Map<string, AgentContext>()

  /** The context that a request goes to; without a session it is alone in its own. */
  of({ session, is_sidechain }: Exchange['request']): AgentContext {
    if (session === undefined) return new AgentContext(0)
    const contexts = is_sidechain === true ? this.#side : this.#main
    const context = contexts.get(session) ?? new AgentContext(0)
    contexts.set(session, context)
    return context
  }

  /** A compaction is of the main context. A sub-agent's context continues. */
  compact(session: string): void {
    this.#main.set(session, new AgentContext((this.#main.get(session)?.partition ?? 0) + 1))
  }

  close(session: string): void {
    this.#main.delete(session)
    this.#side.delete(session)
  }
}

/** What an agent has before it: the results of one session and partition, a sub-agent's apart. */
export class AgentContext {
  /** Compactions so far. */
  readonly partition: number
  /** In their order; a result that was sent twice is there once. */
  readonly results: GivenResult[] = []
  /** In their order, those of a call after its arguments. */
  readonly texts: KnownText[] = []
  /** In their order; those that were refused have no result. */
  readonly #calls: { readonly request: ContentRequest; readonly result?: GivenResult }[] = []
  /** Which call each result is of. */
  readonly #positions: number[] = []
  readonly #byPrefix = new Map<string, KnownText[]>()

  constructor(partition: number) {
    this.partition = partition
  }

  /** How many calls there were, with those that were refused. */
  get calls(): number {
    return this.#calls.length
  }

  /** All texts whose identity begins with `ref` (8 digits or more). */
  find(ref: string): readonly KnownText[] {
    const known = this.#byPrefix.get(ref.slice(0, REF_DIGITS)) ?? []
    return known.filter(text => text.identity.startsWith(ref))
  }

  /** Adds the texts that were given to a call whose result comes next. */
  addCall({ tool, args }: ContentRequest): void {
    if (tool === undefined || tool === '') return
    for (const { name, text } of argumentBodies(args)) {
      const about = { name: `${tool}.${name}`, position: this.calls, isError: false }
      this.#know({ identity: identityOf(text), content: text, ...about })
    }
  }

  addResult(result: GivenResult): void {
    const { identity, request } = result
    const { tool: name, args, content, is_error: isError = false } = request
    const position = this.#calls.push({ request, result }) - 1
    this.#know({ identity, content, name, args, position, isError })
    this.#positions.push(position)
    this.results.push(result)
    if (name === undefined) return
    for (const inner of stringBodies(content)) {
      const { text } = inner
      const path = stringName(name, inner.name)
      this.#know({ identity: identityOf(text), content: text, name: path, position, isError })
    }
  }

  /**
   * A call whose result was not answered; it counts in distances, and so does what it was given.
   */
  addRefused(request: ContentRequest): void {
    this.addCall(request)
    this.#calls.push({ request })
  }

  /** As it was before its result `index` came. */
  before(index: number): AgentContext {
    const earlier = new AgentContext(this.partition)
    for (const { request, result } of this.#calls.slice(0, this.#positions[index])) {
      if (result === undefined) earlier.addRefused(request)
      else {
        earlier.addCall(request)
        earlier.addResult(result)
      }
    }
    return earlier
  }

  #know(text: KnownText): void {
    this.texts.push(text)
    const prefix = text.identity.slice(0, REF_DIGITS)
    const others = this.#byPrefix.get(prefix)
    if (others === undefined) this.#byPrefix.set(prefix, [text])
    else others.push(text)
  }
}
