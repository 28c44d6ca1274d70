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
      placeNote(bodies, key, idOf(sequence), JSON.stringify(families))
    },
    since(sequence, family, most) {
      const first = Math.max(1, sequence - most)
      for (let before = sequence - 1; before >= first; before--) {
        const note = bodies.noteOf(idOf(before), key)
        if (note !== null && (JSON.parse(note) as number[]).includes(family)) {
          return sequence - before
        }
      }
      return 0
    },
  }
}

function idOf(sequence: number): string {
  return hash('sha256', `hints ${sequence}`, 'hex')
}
