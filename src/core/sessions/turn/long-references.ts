import { hash } from 'node:crypto'
import type { SessionKey } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { notesKey, placeNote } from './call-memory.ts'

/**
 * Hexadecimal digits of a reference, and of one whose first digits another body of the session has
 * already.
 */
const REF_DIGITS = 8
const LONG_REF_DIGITS = 24

/** The shortest id that a session may name a body by. */
export function shortRef(identity: string): string {
  return identity.slice(0, REF_DIGITS)
}

/**
 * The id by which a body is named in a context: the short one, unless `lengthen` noted otherwise.
 */
export function refIn(bodies: BodyMemory, context: SessionKey, identity: string): string {
  const isLong = bodies.noteOf(noteId(identity), notesKey(context)) !== null
  return isLong ? identity.slice(0, LONG_REF_DIGITS) : shortRef(identity)
}

/**
 * Notes that the store knows another body of the session by the short reference: from now on this
 * one is named by its long reference.
 */
export function lengthen(bodies: BodyMemory, context: SessionKey, identity: string): void {
  placeNote(bodies, notesKey(context), noteId(identity), '')
}

function noteId(identity: string): string {
  return hash('sha256', `long ${identity}`, 'hex')
}
