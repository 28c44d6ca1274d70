import type { Counters, EntryMatch, NewEntry } from '../index/session-index.ts'

/** Something that one result changed in its session, in the order in which it happened. */
export type Change =
  | { readonly kind: 'invalidate'; readonly match: EntryMatch }
  | { readonly kind: 'record'; readonly entry: NewEntry; readonly lruSize: number }
  /** A text that the agent has, and the note that names its call. */
  | (TextSize & { readonly kind: 'body'; readonly note: string })
  | { readonly kind: 'note'; readonly id: string; readonly note: string }
  /** The call was answered with a reference to the entry with this body and number. */
  | {
      readonly kind: 'refer'
      readonly identity: string
      readonly sequence: number
      readonly callHash: number
    }
  | { readonly kind: 'count'; readonly counters: Partial<Counters> }
  | { readonly kind: 'hint'; readonly family: number; readonly max: number }

/** Which text, and how large it is. */
export interface TextSize {
  /** SHA-256 of its UTF-8 bytes, 64 hex digits. */
  readonly identity: string
  readonly bytes: number
}

/** What a result changed. */
export interface TurnChanges {
  /** Position of the result in its session; 0 if it changed the session without being counted. */
  readonly sequence: number
  readonly timeMs: number
  readonly changes: readonly Change[]
}

/** The same, ready to be recorded for the processes that share the session. */
export interface SessionChanges {
  readonly session: string
  /** The life of the session that they are of. */
  readonly epoch: number
  /** For `readChanges`. */
  readonly bytes: Uint8Array
  /** The texts that they add to what the agent has. */
  readonly texts: readonly TextSize[]
}

/** Raise if a reader of the present version would misunderstand what is written. */
const VERSION = 1

/** Larger notes are answers for retries, which then are answered as new calls. */
const MAX_NOTE_CHARS = 8_192

/** Changes as bytes: JSON after the version. */
export function writeChanges({ sequence, timeMs, changes }: TurnChanges): Uint8Array {
  const kept = changes.filter(each => !('note' in each) || each.note.length <= MAX_NOTE_CHARS)
  return Buffer.from(JSON.stringify([VERSION, sequence, timeMs, ...kept]))
}

/**
 * Returns `null` for bytes of another version, and for none: it is unknown what they changed.
 * @throws SyntaxError for bytes that `writeChanges` has not written
 */
export function readChanges(bytes: Uint8Array): TurnChanges | null {
  if (bytes.length === 0) return null
  const [version, sequence, timeMs, ...changes] = JSON.parse(Buffer.from(bytes).toString()) as [
    number,
    number,
    number,
    ...Change[],
  ]
  return version === VERSION ? { sequence, timeMs, changes } : null
}

/** The texts that changes add to what the agent has. */
export function textsIn(changes: readonly Change[]): readonly TextSize[] {
  return changes.flatMap(each =>
    each.kind === 'body' ? [{ identity: each.identity, bytes: each.bytes }] : [],
  )
}
