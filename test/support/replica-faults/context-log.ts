import { hash } from 'node:crypto'

/**
 * The judge of a fault run. It has what one agent sent and was sent, and the grammar of
 * docs/reference/hints.md. It shares no code with the service.
 */

/** One call of a tool, as the agent made it. */
export interface MadeCall {
  readonly tool: string
  readonly argument: string
  readonly text: string
}

/** What is wrong with an answer, and the line that says so. */
export interface Violation {
  readonly kind: 'foreign' | 'distance' | 'call' | 'lines'
  readonly line: string
  /** How many calls ago the agent was sent the bodies of that id. */
  readonly ago: readonly number[]
}

/** A reference to a result, whole or in lines: its id, its lines, and what names the call. */
export interface Named {
  readonly line: string
  readonly id: string
  readonly first: number | null
  readonly last: number | null
  readonly call: string
}

const REFERENCE = /^> \[(?:ref|near-ref) ([0-9a-f]{8,64})(?: lines (\d+)-(\d+))?(?: of)?(.*)\]$/gm
const DISTANCE = /^(.*?) ?(\d+) calls? ago(?:, numbers [+-]\d+)?$/
const TOOL = /^ ?(?:part \d+ of )?([\w./-]+)(?:\((.*?)\))?$/

/** The references in a text that a service has sent. */
export function referencesIn(content: string): readonly Named[] {
  return [...content.matchAll(REFERENCE)].map(([line, id = '', first, last, call = '']) => ({
    line,
    id,
    first: first === undefined ? null : Number(first),
    last: last === undefined ? null : Number(last),
    call,
  }))
}

/** What an agent has in its context, by its own count. */
export class ContextLog {
  #calls = 0
  #held: { readonly call: MadeCall; readonly number: number; readonly digest: string }[] = []

  /** The call that comes; the answer to it is judged before it is held. */
  next(): number {
    return ++this.#calls
  }

  /** From now on the agent has the result of a call in its context. */
  hold(call: MadeCall, number: number): void {
    this.#held.push({ call, number, digest: hash('sha256', call.text) })
  }

  /** The agent's context was compacted: it has nothing any more. */
  compact(): void {
    this.#held = []
  }

  /** The text that an id names in this context; `null` if there is none. */
  textOf(id: string): string | null {
    return this.#held.find(({ digest }) => digest.startsWith(id))?.call.text ?? null
  }

  /** Judges what was sent as the result of the call with this number. */
  judge(content: string, number: number): readonly Violation[] {
    return referencesIn(content).flatMap(named => {
      const fault = this.#faultOf(named, number)
      if (fault === null) return []
      const sent = this.#held.filter(({ digest }) => digest.startsWith(named.id))
      return [{ kind: fault, line: named.line, ago: sent.map(each => number - each.number) }]
    })
  }

  #faultOf({ id, last, call }: Named, number: number): Violation['kind'] | null {
    const bodies = this.#held.filter(({ digest }) => digest.startsWith(id))
    if (bodies.length === 0) return 'foreign'
    if (last !== null && !bodies.some(({ call: { text } }) => text.split('\n').length >= last))
      return 'lines'
    const distant = DISTANCE.exec(call)
    const named = TOOL.exec(distant?.[1] ?? call)
    const matching = bodies.filter(each => isNamed(each.call, named?.[1], named?.[2]))
    if (matching.length === 0) return 'call'
    if (distant === null) return null
    const isThere = matching.some(each => number - each.number === Number(distant[2]))
    return isThere ? null : 'distance'
  }
}

/** Whether a call is the one that a tool and a shown argument name; `*` stands where it was cut. */
function isNamed(call: MadeCall, tool: string | undefined, shown: string | undefined): boolean {
  if (tool !== undefined && tool !== call.tool) return false
  if (shown === undefined || shown === '') return true
  const text = shown.replace(/^"(.*)"$/, '$1')
  if (text.startsWith('*')) return call.argument.endsWith(text.slice(1))
  return text.endsWith('*') ? call.argument.startsWith(text.slice(0, -1)) : call.argument === text
}
