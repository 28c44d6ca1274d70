import { hash } from 'node:crypto'
import type { TextBytes } from '../../transport/text-bytes.ts'
import { TEXT_TYPES } from '../../transport/text-bytes.ts'
import type { NewEntry, Ticket } from '../index/session-index.ts'
import { argumentBodies } from '../lines/argument-bodies.ts'
import { scanText } from '../lines/scan-text.ts'
import { type CallFacts, hash32, kindOf, pathOf } from './call-facts.ts'
import { noteFor, noteForArgument } from './earlier-results.ts'
import type { SessionTurn } from './open-turn.ts'
import type { Sessions } from './shared-sessions.ts'

/** What waits for a body to be durable; plain data, settled by `settleBody`. */
export interface BodyTicket {
  readonly entry: Ticket | null
  /** Where it lies in the body memory. */
  readonly position: number | null
}

/** A body to keep for a session. */
export interface KeptForSession extends TextBytes {
  readonly session: string
  readonly ticket: BodyTicket
}

/**
 * Records a result that the agent now has, so that later ones may refer to it once it is durable.
 * @param delivered how its answer says it, and the sequence of the entry that this refers to
 */
export function remember(
  { index, bodies }: Sessions,
  here: SessionTurn,
  result: CallFacts & { readonly content: string },
  options: {
    readonly delivered: Pick<NewEntry, 'answer' | 'of'>
    /** References that a reader follows from the answer to the content's lines; `undefined`: they cannot be found. */
    readonly hops: number | undefined
    readonly lruSize: number
    readonly nowMs: number
    readonly mutating: readonly string[]
  },
): KeptForSession {
  const { identity, callHash, turn } = here
  const note = noteFor(result, { sequence: turn.sequence, hops: options.hops })
  const text = note === null ? null : here.scan()
  const bytes = text?.bytes ?? Buffer.from(result.content, 'utf8')
  const entry: NewEntry = {
    identity,
    callHash,
    kind: kindOf(result, options.mutating),
    toolHash: hash32(result.tool),
    pathHash: hash32(pathOf(result)),
    bytes: bytes.length,
    timeMs: options.nowMs,
    ...options.delivered,
  }
  return {
    bytes,
    media_type: TEXT_TYPES.utf8,
    session: here.session,
    ticket: {
      entry: index.record(turn, entry, { lruSize: options.lruSize }),
      position: text === null ? null : bodies.place(text, here.context, identity, note ?? ''),
    },
  }
}

/** A result that came before, to be kept on. */
export function keepOn({ session }: SessionTurn, content: string): KeptForSession {
  const bytes = Buffer.from(content, 'utf8')
  return { bytes, media_type: TEXT_TYPES.utf8, session, ticket: { entry: null, position: null } }
}

/**
 * Notes the long texts that the agent gave to the tool, which it often gets back: the result of this very call may refer to
 * them already. Whoever does relies on them, so that one that could not be kept is noticed.
 */
export function rememberArguments(
  { bodies }: Pick<Sessions, 'bodies'>,
  { session, context, turn }: SessionTurn,
  { tool, args }: CallFacts,
): readonly Omit<KeptForSession, 'ticket'>[] {
  if (tool === undefined || tool === '') return []
  return argumentBodies(args).flatMap(({ name, text }) => {
    const scanned = scanText(text, context)
    if (scanned === null) return []
    const identity = hash('sha256', scanned.bytes, 'hex')
    const position = bodies.place(
      scanned,
      context,
      identity,
      noteForArgument(tool, name, turn.sequence),
    )
    if (position === null) return []
    bodies.confirm(position)
    return [{ bytes: scanned.bytes, media_type: TEXT_TYPES.utf8, session }]
  })
}

/** After the store's answer. From then on a kept body may be referred to. */
export function settleBody(
  { index, bodies }: Sessions,
  { entry, position }: BodyTicket,
  kept: boolean,
): void {
  if (position !== null && kept) bodies.confirm(position)
  if (entry !== null) index.settle(entry, kept)
}
