import { hash } from 'node:crypto'
import { TEXT_TYPES, type TextBytes } from '../../base/text-bytes.ts'
import { hostBlocks } from '../../formats/host-blocks.ts'
import type { NewEntry, SessionKey, Ticket } from '../index/session-index.ts'
import { argumentBodies } from '../lines/argument-bodies.ts'
import { scanText } from '../lines/scan-text.ts'
import { type CallFacts, hash32, kindOf, pathOf } from './call-facts.ts'
import {
  noteFor,
  noteForArgument,
  noteForBlock,
  placeBody,
  type Shown,
  textsInStrings,
} from './earlier-results.ts'
import { lengthen, refIn } from './long-references.ts'
import type { SessionTurn } from './open-turn.ts'
import type { Sessions } from './shared-sessions.ts'

/** Names a body that is not durable yet; plain data, committed by `commitBody`. */
export interface BodyTicket {
  readonly entry: Ticket | null
  /** Its place in the body memory. */
  readonly position: number | null
  /** SHA-256 of the body, and the agent's context that it is in. */
  readonly identity: string
  readonly context: SessionKey
}

/** A body to keep for a session. */
export interface KeptForSession extends TextBytes {
  readonly session: string
  /** The id by which the session's answers name it. */
  readonly ref: string
  readonly ticket: BodyTicket
}

/**
 * Records a result that the agent now has, so that later ones may refer to it once it is durable.
 * @param delivered how its answer represents it, and the sequence of the entry that this refers to
 */
export function remember(
  { index, bodies }: Sessions,
  here: SessionTurn,
  result: CallFacts & { readonly content: string },
  options: {
    readonly delivered: Pick<NewEntry, 'answer' | 'of'>
    readonly shown: Pick<Shown, 'found' | 'covered'>
    readonly lruSize: number
    readonly nowMs: number
    readonly mutating: readonly string[]
  },
): KeptForSession {
  const { identity, callHash, turn } = here
  const note = noteFor(result, { sequence: turn.sequence, ...options.shown })
  const text = note === null ? null : here.scan()
  const bytes = text?.bytes ?? Buffer.from(result.content, 'utf8')
  const position =
    text === null || note === null
      ? null
      : placeBody(bodies, text, here.context, { identity, note })
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
    ref: refIn(bodies, here.context, identity),
    ticket: {
      identity,
      context: here.context,
      entry: index.record(turn, entry, { lruSize: options.lruSize }),
      position,
    },
  }
}

/** Keeps a result that came before. */
export function keepOn(
  { bodies }: Pick<Sessions, 'bodies'>,
  { session, context, identity }: SessionTurn,
  content: string,
): KeptForSession {
  const bytes = Buffer.from(content, 'utf8')
  const ref = refIn(bodies, context, identity)
  const ticket = { entry: null, position: null, identity, context }
  return { bytes, media_type: TEXT_TYPES.utf8, session, ref, ticket }
}

/**
 * Notes the long texts that the agent gave to the tool, which it often gets back: the result of
 * this very call may refer to them already. An answer that does depends on them, so a text that
 * could not be kept is noticed.
 */
export function rememberArguments(
  { bodies }: Pick<Sessions, 'bodies'>,
  { session, context, turn }: SessionTurn,
  { tool, args }: CallFacts,
): readonly Omit<KeptForSession, 'ticket'>[] {
  if (tool === undefined || tool === '') return []
  return argumentBodies(args).flatMap(({ name, text }) => {
    const note = noteForArgument(tool, name, turn.sequence)
    return rememberText(bodies, { session, context }, text, note)
  })
}

/**
 * Notes blocks of a host in a result that was sent as it is, so that they may be referred to where
 * they come again, also between numbered lines.
 * @param names of the blocks
 */
export function rememberBlocks(
  { bodies }: Pick<Sessions, 'bodies'>,
  { session, context, turn }: SessionTurn,
  { tool, content }: CallFacts & { readonly content: string },
  names: readonly string[],
): readonly Omit<KeptForSession, 'ticket'>[] {
  if (tool === undefined || tool === '' || names.length === 0) return []
  return hostBlocks(content).flatMap(({ name, text }) => {
    if (!names.includes(name)) return []
    const note = noteForBlock(tool, name, turn.sequence)
    return rememberText(bodies, { session, context }, text, note)
  })
}

/**
 * Notes the texts in strings of a JSON result, which later results repeat.
 * @param shown what a reader finds of the result
 */
export function rememberStrings(
  { bodies }: Pick<Sessions, 'bodies'>,
  { session, context, turn }: SessionTurn,
  { tool, content }: CallFacts & { readonly content: string },
  shown: Shown,
): readonly Omit<KeptForSession, 'ticket'>[] {
  if (tool === undefined || tool === '') return []
  return textsInStrings({ tool, content }, shown, turn.sequence).flatMap(({ text, note }) =>
    rememberText(bodies, { session, context }, text, note),
  )
}

function rememberText(
  bodies: Sessions['bodies'],
  { session, context }: Pick<SessionTurn, 'session' | 'context'>,
  text: string,
  note: string,
): readonly Omit<KeptForSession, 'ticket'>[] {
  const scanned = scanText(text, context)
  if (scanned === null) return []
  const identity = hash('sha256', scanned.bytes, 'hex')
  const position = placeBody(bodies, scanned, context, { identity, note })
  if (position === null) return []
  bodies.confirm(position)
  const ref = refIn(bodies, context, identity)
  return [{ bytes: scanned.bytes, media_type: TEXT_TYPES.utf8, session, ref }]
}

/**
 * Called after the store's refusal, if another body of the session has the id already. The next
 * time the body gets a longer id.
 */
export function lengthenBody({ bodies }: Pick<Sessions, 'bodies'>, ticket: BodyTicket): void {
  lengthen(bodies, ticket.context, ticket.identity)
}

/** Called after the store's answer. From then on a kept body may be referred to. */
export function commitBody(
  { index, bodies }: Sessions,
  { entry, position }: BodyTicket,
  kept: boolean,
): void {
  if (position !== null && kept) bodies.confirm(position)
  if (entry !== null) index.commit(entry, kept)
}
