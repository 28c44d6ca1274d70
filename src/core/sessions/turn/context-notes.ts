import { hash } from 'node:crypto'
import type { SessionKey } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { notesKey, placeNote } from './call-memory.ts'

/** Which results of a context had hints. Kept with the bodies, within the same bounds. */
export interface HintNotes {
  /** Notes the families of a result's hints, by number. */
  write(sequence: number, families: readonly number[]): void
  /**
   * Results from the last one before `sequence` that had hints of the family; 0 if none of the
   * `most` results before it had some.
   */
  since(sequence: number, family: number, most: number): number
}

export function createHintNotes(bodies: BodyMemory, context: SessionKey): HintNotes {
  const key = notesKey(context)
  return {
    write(sequence, families) {
      placeNote(bodies, key, idOf('hints', sequence), JSON.stringify(families))
    },
    since(sequence, family, most) {
      const first = Math.max(1, sequence - most)
      for (let before = sequence - 1; before >= first; before--) {
        const note = bodies.noteOf(idOf('hints', before), key)
        if (note !== null && (JSON.parse(note) as number[]).includes(family)) {
          return sequence - before
        }
      }
      return 0
    },
  }
}

/**
 * The format that an endpoint's last result was written in, of a context. It is kept with the
 * bodies, within the same bounds.
 */
export interface LastFormat {
  /** Returns the name without its version; `undefined` if none is known. */
  read(): string | undefined
  write(format: string): void
}

export function createLastFormat(
  bodies: BodyMemory,
  context: SessionKey,
  endpoint: string,
): LastFormat {
  const key = notesKey(context)
  const id = hash('sha256', Buffer.from(`format ${endpoint}`, 'utf16le'), 'hex')
  return {
    read: () => bodies.noteOf(id, key) ?? undefined,
    write(format) {
      bodies.retract(id, key)
      placeNote(bodies, key, id, format)
    },
  }
}

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
      placeNote(bodies, key, idOf('search', sequence), '1')
    },
    before(sequence, calls) {
      let searches = 0
      for (let at = Math.max(1, sequence - calls); at < sequence; at++) {
        if (bodies.noteOf(idOf('search', at), key) !== null) searches++
      }
      return searches
    },
  }
}

function idOf(kind: 'hints' | 'search', sequence: number): string {
  return hash('sha256', `${kind} ${sequence}`, 'hex')
}
