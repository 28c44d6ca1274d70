import { hash } from 'node:crypto'
import { toBytes } from '../transport/text-bytes.ts'
import type { Exchange } from './transcript.ts'

/** A request whose content is at hand. */
export type ContentRequest = Exchange['request'] & { readonly content: string }

/** A result that an agent was given. */
export interface GivenResult {
  readonly request: ContentRequest
  readonly answer: Exchange['answer']
  /** SHA-256 of the content as it came, in hexadecimal. */
  readonly identity: string
}

/** What an agent has before it: the results of one session and partition, a sub-agent's apart. */
export interface AgentContext {
  /** Compactions so far. */
  readonly partition: number
  /** In their order; a result that was sent twice is there once. */
  readonly results: readonly GivenResult[]
  /** Different results whose identity begins with `ref` (8 digits or more), the latest of each. */
  find(ref: string): readonly GivenResult[]
  add(result: GivenResult): void
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
  const partitions = new Map<string, number>()
  const contexts = new Map<string, [main: AgentContext, side: AgentContext]>()

  function open(session: string): [main: AgentContext, side: AgentContext] {
    let pair = contexts.get(session)
    if (pair === undefined) {
      const partition = partitions.get(session) ?? 0
      pair = [createContext(partition), createContext(partition)]
      contexts.set(session, pair)
    }
    return pair
  }

  return {
    of({ session, is_sidechain }) {
      if (session === undefined) return createContext(0)
      return open(session)[is_sidechain === true ? 1 : 0]
    },
    compact(session) {
      partitions.set(session, (partitions.get(session) ?? 0) + 1)
      contexts.delete(session)
    },
    close(session) {
      partitions.delete(session)
      contexts.delete(session)
    },
  }
}

function createContext(partition: number): AgentContext {
  const results: GivenResult[] = []
  const byPrefix = new Map<string, GivenResult[]>()
  return {
    partition,
    results,
    find(ref) {
      const found = new Map<string, GivenResult>()
      for (const result of byPrefix.get(ref.slice(0, REF_DIGITS)) ?? []) {
        if (result.identity.startsWith(ref)) found.set(result.identity, result)
      }
      return [...found.values()]
    },
    add(result) {
      results.push(result)
      const prefix = result.identity.slice(0, REF_DIGITS)
      const others = byPrefix.get(prefix)
      if (others === undefined) byPrefix.set(prefix, [result])
      else others.push(result)
    },
    before(index) {
      const earlier = createContext(partition)
      for (const result of results.slice(0, index)) earlier.add(result)
      return earlier
    },
  }
}
