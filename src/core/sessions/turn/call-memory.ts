import { hash } from 'node:crypto'
import type { SessionKey } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { type ScannedText, unsplit } from '../lines/scan-text.ts'

/** A body that an answer depends on: it must be retrievable when the answer leaves. */
export interface Dependency {
  readonly session: string
  /** The id in the hint. */
  readonly ref: string
  /** The body that the id must represent: SHA-256, 64 hex digits. */
  readonly identity: string
  /** The agent's context that the body is in. */
  readonly context: SessionKey
}

/** A call with its result. If it is sent again, it is the same call. */
export interface NamedCall {
  /** What the agent calls it, or a name of the request that no other request has. */
  readonly name: string
  /** SHA-256 of the result, 64 hex digits. */
  readonly identity: string
  /** Everything else that an answer depends on, such as the budget. */
  readonly options: string
}

/** The state of the session when a call came for the first time. */
export interface Seen {
  /** Position of its result in the session. */
  readonly sequence: number
  /** Hints of each family that the session had been sent. */
  readonly sent: readonly number[]
  /** For each family, results since the last one with hints of it; 0: as many as matter. */
  readonly since?: readonly number[]
  /** Searches among the last calls, if the configuration asks for notes on them; absent: none. */
  readonly searches?: number
  /** The format of the endpoint's last result, if the configuration compares formats. */
  readonly format?: string
}

/**
 * How a call was answered: by itself, from the content alone, or with what the session knew then.
 */
export type Answered = {
  /** The job that did; see `SessionContext.attempt`. */
  readonly attempt?: string | undefined
} & (
  | { readonly by: 'itself' }
  | {
      readonly by: 'session'
      readonly answer: object
      readonly dependencies: readonly Dependency[]
    }
)

/**
 * The notes about one call in a context, so that the same call gets the same answer again. They are
 * kept with the bodies, within the same bounds. Each note is written once; a later write has no
 * effect.
 */
export interface CallMemory {
  seen(): Seen | null
  noteSeen(seen: Seen): void
  answered(): Answered | null
  /** @returns whether there was room for it */
  noteAnswered(answered: Answered): boolean
  /** Whether it was answered without the session, because nothing could be kept. */
  isDetached(): boolean
  noteDetached(): void
}

/** All data is in the note. */
export const NO_TEXT = unsplit(new Uint8Array(0))

/** Whether a text is that of a note, not of a body. */
export function isNote(text: ScannedText): boolean {
  return text === NO_TEXT
}

/** Names a call with its result, whatever else was asked: 64 hex digits. */
export function callDigest({ name, identity }: Pick<NamedCall, 'name' | 'identity'>): string {
  return digest(`${name.length}:${name}${identity}`)
}

/** The memory of a call of a context. */
export function createCallMemory(
  bodies: BodyMemory,
  context: SessionKey,
  named: NamedCall,
): CallMemory {
  const key = notesKey(context)
  // The call came, with whatever options.
  const call = callDigest(named)
  const { options } = named
  const seenId = noteId(`seen ${call}`)
  const answerId = noteId(`answer ${call}${options}`)
  const detachedId = noteId(`detached ${call}${options}`)

  function read<T>(id: string): T | null {
    const note = bodies.noteOf(id, key)
    return note === null ? null : (JSON.parse(note) as T)
  }

  function write(id: string, note: object): boolean {
    return placeNote(bodies, key, id, JSON.stringify(note))
  }

  return {
    seen: () => read(seenId),
    noteSeen: seen => void write(seenId, seen),
    answered: () => read(answerId),
    noteAnswered: answered => write(answerId, answered),
    isDetached: () => read(detachedId) !== null,
    noteDetached: () => void write(detachedId, {}),
  }
}

/** As short as no two notes of a context have it in common, because other processes are sent it. */
function noteId(text: string): string {
  return digest(text).slice(0, NOTE_ID_DIGITS).padEnd(ID_DIGITS, '0')
}

const NOTE_ID_DIGITS = 24
const ID_DIGITS = 64

function digest(text: string): string {
  // UTF-16 keeps lone surrogates distinct.
  return hash('sha256', Buffer.from(text, 'utf16le'), 'hex')
}

/**
 * Keeps a note with the bodies.
 * @returns whether there was room for it
 */
export function placeNote(bodies: BodyMemory, key: SessionKey, id: string, note: string): boolean {
  const position = bodies.place(NO_TEXT, key, id, note)
  if (position !== null) bodies.confirm(position)
  return position !== null
}

/** A key apart from bodies, so that a note is never read as a result. */
export function notesKey(context: SessionKey): SessionKey {
  return [~context[0], context[1], context[2], context[3]] as unknown as SessionKey
}
