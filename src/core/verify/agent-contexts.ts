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

/** What an agent has before it: the results of one session and partition, a sub-agent's apart. */
export interface AgentContext {
  /** Compactions so far. */
  readonly partition: number
  /** In their order; a result that was sent twice is there once. */
  readonly results: readonly GivenResult[]
  /** How many calls there were, with those that were refused. */
  readonly calls: number
  /** In their order, those of a call after its arguments. */
  readonly texts: readonly KnownText[]
  /** All texts whose identity begins with `ref` (8 digits or more). */
  find(ref: string): readonly KnownText[]
  /** Adds the texts that were given to a call whose result comes next. */
  addCall(request: ContentRequest): void
  addResult(result: GivenResult): void
  /**
   * A call whose result was not answered; it counts in distances, and so does what it was given.
   */
  addRefused(request: ContentRequest): void
  /** As it was before its result `index` came. */
  before(index: number): AgentContext
}

interface AgentContexts {
  /** The context that a request goes to; without a session it is alone in its own. */
  of(request: Exchange['request']): AgentContext
  compact(session: string): void
  close(session: string): void
}

/** Digits that every reference has at least. */
const REF_DIGITS = 8

/** Identity of a content: SHA-256 of its bytes. */
export function identityOf(content: string): string {
  return hash('sha256', toBytes(content).bytes, 'hex')
}

export function createAgentContexts(): AgentContexts {
  const main = new Map<string, AgentContext>()
  const side = new Map<string, AgentContext>()
  return {
    of({ session, is_sidechain }) {
      if (session === undefined) return createContext(0)
      const contexts = is_sidechain === true ? side : main
      const context = contexts.get(session) ?? createContext(0)
      contexts.set(session, context)
      return context
    },
    // A compaction is of the main context. A sub-agent's context continues.
    compact(session) {
      main.set(session, createContext((main.get(session)?.partition ?? 0) + 1))
    },
    close(session) {
      main.delete(session)
      side.delete(session)
    },
  }
}

function createContext(partition: number): AgentContext {
  const results: GivenResult[] = []
  const texts: KnownText[] = []
  /** In their order; those that were refused have no result. */
  const calls: { readonly request: ContentRequest; readonly result?: GivenResult }[] = []
  /** Which call each result is of. */
  const positions: number[] = []
  const byPrefix = new Map<string, KnownText[]>()

  function know(text: KnownText): void {
    texts.push(text)
    const prefix = text.identity.slice(0, REF_DIGITS)
    const others = byPrefix.get(prefix)
    if (others === undefined) byPrefix.set(prefix, [text])
    else others.push(text)
  }

  function addCall({ tool, args }: ContentRequest): void {
    if (tool === undefined || tool === '') return
    const position = calls.length
    for (const { name, text } of argumentBodies(args)) {
      const identity = identityOf(text)
      know({ identity, content: text, name: `${tool}.${name}`, position, isError: false })
    }
  }

  function addResult(result: GivenResult): void {
    const { identity, request } = result
    const { tool: name, args, content, is_error: isError = false } = request
    const position = calls.push({ request, result }) - 1
    know({ identity, content, name, args, position, isError })
    positions.push(position)
    results.push(result)
    if (name === undefined) return
    for (const inner of stringBodies(content)) {
      const { text } = inner
      const path = stringName(name, inner.name)
      know({ identity: identityOf(text), content: text, name: path, position, isError })
    }
  }

  return {
    partition,
    results,
    texts,
    get calls() {
      return calls.length
    },
    find: ref =>
      (byPrefix.get(ref.slice(0, REF_DIGITS)) ?? []).filter(text => text.identity.startsWith(ref)),
    addCall,
    addResult,
    addRefused(request) {
      addCall(request)
      calls.push({ request })
    },
    before(index) {
      const earlier = createContext(partition)
      for (const { request, result } of calls.slice(0, positions[index])) {
        if (result === undefined) earlier.addRefused(request)
        else {
          earlier.addCall(request)
          earlier.addResult(result)
        }
      }
      return earlier
    },
  }
}
