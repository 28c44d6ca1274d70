import { writePathStep } from '../../../json/write-json.ts'
import type { Uses } from '../../../reading/constructs.ts'
import type { ExplainedPart } from '../json-format.ts'

/** A text and its price. */
export interface Piece {
  readonly text: string
  readonly tokens: number
  /** Tokens that the style adds when ways to write are compared, and the price of `uses`. */
  readonly surcharge: number
  /** What its reader must know; absent: nothing. */
  readonly uses?: Uses | undefined
}

/** The price by which ways to write are compared. */
export function priceOf({ tokens, surcharge }: Piece): number {
  return tokens + surcharge
}

/** How a container may be written. JSON in a string is written as that string, or as its value. */
type Way =
  | 'shape'
  | 'brackets'
  | 'lines'
  | 'list'
  | 'table'
  | 'keyed table'
  | 'path'
  | 'string'
  | 'value'

/** Ways in which nested containers have no way of their own. */
const CLOSED: readonly Way[] = ['shape', 'brackets', 'table', 'keyed table', 'string']

/** The role of a container, which decides what may follow. */
export type Role = 'member' | 'item' | 'document'

/**
 * Ways by name, in order of preference; `null` for those that it cannot be written in, absent if
 * not looked at.
 */
export type Ways = Readonly<Partial<Record<Way, Piece | null>>>

type PathStep = string | number | null

/** Receives every decision while a value is written, and its place. */
export interface Trace {
  /**
   * Until `leave`, decisions are about the member or item `step`, or about the value in a string if
   * `step` is `null`.
   */
  enter(step: PathStep): void
  leave(): void
  /**
   * The ways of the container that was entered last, in this role. A later call for the same role
   * replaces it.
   */
  decide(role: Role, ways: Ways, best: Piece): void
  /**
   * The decisions that are in the text, from its start to its end. Those inside brackets and tables
   * are not.
   */
  parts(): readonly ExplainedPart[]
}

interface Decision {
  readonly ways: Ways
  readonly best: Piece
}

interface Node {
  readonly step: PathStep
  readonly decisions: Partial<Record<Role, Decision>>
  readonly inner: Node[]
}

export function createTrace(): Trace {
  const root: Node = { step: null, decisions: {}, inner: [] }
  const open = [root]
  return {
    enter(step) {
      const node = { step, decisions: {}, inner: [] }
      open.at(-1)!.inner.push(node)
      open.push(node)
    },
    leave() {
      const { decisions } = open.pop()!
      // A scalar has no ways.
      if (Object.keys(decisions).length === 0) open.at(-1)!.inner.pop()
    },
    decide(role, ways, best) {
      open.at(-1)!.decisions[role] = { ways, best }
    },
    parts() {
      const parts: ExplainedPart[] = []
      collect(root, { role: 'document', path: '$', depth: 0 }, parts)
      return parts
    },
  }
}

interface TracePosition {
  readonly role: Role
  readonly path: string
  readonly depth: number
}

/** Recursion is as deep as lines go. */
function collect(node: Node, { role, path, depth }: TracePosition, parts: ExplainedPart[]): void {
  const decision = node.decisions[role]
  if (decision === undefined) return
  const { ways, best } = decision
  const chosen = wayOf(decision)
  parts.push({
    path,
    depth,
    chosen,
    tokens: best.tokens,
    options: (Object.entries(ways) as [Way, Piece | null][]).flatMap(([way, piece]) =>
      piece === null ? [] : [{ way, tokens: piece.tokens, price: priceOf(piece) }],
    ),
  })
  if (CLOSED.includes(chosen)) return
  for (const inner of node.inner) {
    const role = typeof inner.step === 'number' ? 'item' : 'member'
    collect(inner, { role, path: path + textOf(inner.step), depth: depth + 1 }, parts)
  }
}

function wayOf({ ways, best }: Decision): Way {
  const names = Object.keys(ways) as Way[]
  const found = names.find(way => ways[way] === best)
  if (found === undefined) throw new Error('the best way is not among those that were tried')
  return found
}

/** A step of a JSON path (RFC 9535), which has none into a string. */
function textOf(step: PathStep): string {
  if (step === null) return '(json)'
  return writePathStep(step)
}
