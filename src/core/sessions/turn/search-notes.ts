import { hash } from 'node:crypto'
import type { SessionKey } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { notesKey, placeNote } from './call-memory.ts'

/** Which calls of a context were searches. Kept with the bodies, within the same bounds. */
export interface SearchNotes {
  /** Notes that the call of a result was a search. */
  write(sequence: number): void
  /** How many of the `calls` calls before the one of this number were searches. */
  before(sequence: number, calls: number): number
}

export function createSearchNotes(bodies: BodyMemory, context: SessionKey): SearchNotes {
  const key = notesKey(context)
  return {
    write(sequence) {
      placeNote(bodies, key, idOf(sequence), '1')
    },
    before(sequence, calls) {
      let searches = 0
      for (let at = Math.max(1, sequence - calls); at < sequence; at++) {
        if (bodies.noteOf(idOf(at), key) !== null) searches++
      }
      return searches
    },
  }
}

function idOf(sequence: number): string {
  return hash('sha256', `search ${sequence}`, 'hex')
}
