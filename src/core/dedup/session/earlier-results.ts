import { type CallName, decisiveArgument, nameEarlierCall } from '../../hints/earlier-call.ts'
import type { EarlierCall } from '../../hints/hint.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import type { EarlierResult } from '../lines/reference-line.ts'
import type { CallFacts } from './call-facts.ts'
import type { SessionTurn } from './open-turn.ts'

const REF_DIGITS = 8

/** The id by which a session names a body. */
export function refOf(identity: string): string {
  return identity.slice(0, REF_DIGITS)
}

/** Distances that a reader can count, so that they name a call alone. */
const NEAR_CALLS = 9

/** What is kept with a body so that a later answer can name its call; JSON. */
export interface BodyNote extends CallName {
  /** Position of the result in its session. */
  readonly sequence: number
  /** Whether a reader finds its lines in the answer as it was sent. */
  readonly lines: boolean
}

/** The note for a body that comes now, `null` where its call has no name: then it cannot be referred to. */
export function noteFor(
  { tool, args }: CallFacts,
  facts: Pick<BodyNote, 'sequence' | 'lines'>,
): string | null {
  if (tool === undefined || tool === '') return null
  const argument = decisiveArgument(args)
  const note: BodyNote = { tool, ...(argument === undefined ? {} : { argument }), ...facts }
  return JSON.stringify(note)
}

/**
 * Finds bodies that are in the agent's context, durable, and have a name for a reader.
 * @param byLine only those whose lines a reader finds
 */
export function createEarlierResults(
  bodies: BodyMemory,
  { context, turn }: Pick<SessionTurn, 'context' | 'turn'>,
  { byLine = false }: { readonly byLine?: boolean } = {},
): (identity: string) => EarlierResult | undefined {
  const known = new Map<string, EarlierResult | undefined>()
  const byRef = new Map<string, string>()

  function look(identity: string): EarlierResult | undefined {
    const note = bodies.noteOf(identity, context)
    if (note === null) return undefined
    const { sequence, lines, ...call } = JSON.parse(note) as BodyNote
    if (byLine && !lines) return undefined
    const ref = refOf(identity)
    // Two bodies with the same digits cannot be told apart in one answer.
    if ((byRef.get(ref) ?? identity) !== identity) return undefined
    byRef.set(ref, identity)
    return { ref, call: nameByDistance(call, turn.sequence - sequence) }
  }

  return identity => {
    if (!known.has(identity)) known.set(identity, look(identity))
    return known.get(identity)
  }
}

/** A short distance names a call alone; beyond it the argument helps to find it. */
function nameByDistance(call: CallName, ago: number): EarlierCall {
  const { tool } = call
  if (ago <= NEAR_CALLS) return { tool, calls_ago: ago }
  const { argument } = nameEarlierCall([call], 0)
  return { tool, ...(argument === undefined ? {} : { argument }), calls_ago: ago }
}
