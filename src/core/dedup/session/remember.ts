import { hash } from 'node:crypto'
import type { EncodeAnswer } from '../../requests/encode.ts'
import type { TextBytes } from '../../transport/text-bytes.ts'
import { TEXT_TYPES } from '../../transport/text-bytes.ts'
import type { NewEntry, Ticket } from '../index/session-index.ts'
import type { SessionKey } from '../index/session-key.ts'
import { argumentBodies } from '../lines/argument-bodies.ts'
import { scanText, unsplitText } from '../lines/scan-text.ts'
import { type CallFacts, hash32, kindOf, pathOf } from './call-facts.ts'
import { noteFor, noteForArgument } from './earlier-results.ts'
import type { SessionTurn } from './open-turn.ts'
import type { Reliance } from './refer-to-earlier.ts'
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
  const note = noteFor(result, turn.sequence, options.hops)
  const text = note === null ? null : here.scan()
  const bytes = text?.bytes ?? Buffer.from(result.content, 'utf8')
  const entry: NewEntry = {
    identity,
    callHash,
    kind: kindOf(result.tool, options.mutating),
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

/**
 * Notes the long texts that the agent gave to the tool, which it often gets back: the result of this very call may refer to
 * them already. To be kept before its answer leaves, since nothing else waits for that.
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
    // Whoever refers to it relies on it too, so that one that could not be kept is noticed.
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

/** An answer, and what it depends on. */
export interface PastAnswer {
  readonly answer: EncodeAnswer
  readonly relies: readonly Reliance[]
}

/** Keeps an answer that depends on what the session had then, for a retry of the same call. */
export function rememberAnswer({ bodies }: Sessions, here: SessionTurn, past: PastAnswer): void {
  const key = answerKey(here.context)
  const position = bodies.place(unsplitText(JSON.stringify(past)), key, answerId(here), '')
  if (position !== null) bodies.confirm(position)
}

/** The answer that the same call had, where it was kept and is still there. */
export function answerBefore({ bodies }: Sessions, here: SessionTurn): PastAnswer | null {
  const text = bodies.read(answerId(here), answerKey(here.context))
  return text === null ? null : (JSON.parse(text) as PastAnswer)
}

function answerId({ identity, callHash }: SessionTurn): string {
  return hash('sha256', `${callHash} ${identity}`, 'hex')
}

/** Apart from bodies, so that no line of an answer is ever taken for one of a result. */
function answerKey(context: SessionKey): SessionKey {
  return [~context[0], context[1], context[2], context[3]] as unknown as SessionKey
}
