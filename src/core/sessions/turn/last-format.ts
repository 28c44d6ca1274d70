import { hash } from 'node:crypto'
import type { SessionKey } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { notesKey, placeNote } from './call-memory.ts'

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
