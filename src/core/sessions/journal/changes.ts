import { COUNTERS } from '../index/layout.ts'
import {
  ANSWERS,
  type Counters,
  type EntryMatch,
  KINDS,
  type NewEntry,
} from '../index/session-index.ts'
import { ByteReader, ByteWriter } from './byte-fields.ts'
import { expandNote, type KnownTexts, shortenNote } from './note-text.ts'

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

/** Changes for `readChanges`. */
export interface WrittenChanges {
  readonly bytes: Uint8Array
  /** The texts that they add to what the agent has, which `bytes` name by their indexes. */
  readonly texts: readonly TextSize[]
}

/** Those of one result or of several, ready for the processes that share the session. */
export interface SessionChanges extends WrittenChanges {
  readonly session: string
  /** The life of the session that they are of. */
  readonly epoch: number
}

/** Raise if a reader of the present version would misunderstand what is written. */
const VERSION = 1

/** Larger notes are answers for retries, which then are answered as new calls. */
const MAX_NOTE_CHARS = 8_192

/** The job that made a note. Only the process that has it could know the name again. */
const ATTEMPT = /^\{"attempt":"[^"\\]*",/

/** The number of each kind of change. */
const CODES = { invalidate: 0, record: 1, body: 2, note: 3, refer: 4, count: 5, hint: 6 } as const

/**
 * Changes as bytes: how many follow, and how many texts they add; the version, the sequence, the
 * time, the other hashes, and of each change its kind and fields. A hash is an index: first come
 * those of the texts, which are not in the bytes.
 * @param words texts that notes often have and every reader knows, for example the session's name
 */
export function writeChanges(
  { sequence, timeMs, changes }: TurnChanges,
  words: readonly string[],
): WrittenChanges {
  const texts = textsIn(changes)
  const hashes = createHashTable(texts)
  const kept = changes.filter(each => !('note' in each) || each.note.length <= MAX_NOTE_CHARS)
  for (const change of kept) for (const each of hashesIn(change)) hashes.indexOf(each)
  const own = hashes.all.slice(texts.length)
  const turn = new ByteWriter().count(VERSION).count(sequence).count(timeMs).count(own.length)
  for (const each of own) turn.hash(each)
  const place = { timeMs, indexOf: hashes.indexOf, known: { words, hashes: hashes.all } }
  for (const change of kept) writeChange(turn.count(CODES[change.kind]), change, place)
  return { bytes: new ByteWriter().count(texts.length).block(turn.bytes).bytes, texts }
}

/** The changes of several results of a session as those of one, in their order. */
export function joinChanges(parts: readonly SessionChanges[]): SessionChanges {
  const [first] = parts as [SessionChanges]
  if (parts.length === 1) return first
  return {
    ...first,
    bytes: Buffer.concat(parts.map(({ bytes }) => bytes)),
    texts: parts.flatMap(({ texts }) => texts),
  }
}

/**
 * The changes of each result; `null` for those of another version, and for no bytes: it is unknown
 * what they changed.
 * @param words as `writeChanges` had them
 * @throws SyntaxError for bytes that `writeChanges` has not written
 */
export function readChanges(
  { bytes, texts }: WrittenChanges,
  words: readonly string[],
): readonly (TurnChanges | null)[] {
  if (bytes.byteLength === 0) return [null]
  const reader = new ByteReader(bytes)
  const turns: (TurnChanges | null)[] = []
  for (let from = 0; !reader.isAtEnd; ) {
    const to = from + reader.count()
    if (to > texts.length) throw new SyntaxError('changes name texts that are not there')
    turns.push(readTurn(new ByteReader(reader.block()), texts.slice(from, to), words))
    from = to
  }
  return turns
}

function readTurn(
  reader: ByteReader,
  texts: readonly TextSize[],
  words: readonly string[],
): TurnChanges | null {
  if (reader.count() !== VERSION) return null
  const [sequence, timeMs, count] = [reader.count(), reader.count(), reader.count()]
  const hashes = texts.map(({ identity }) => identity)
  for (let i = 0; i < count; i++) hashes.push(reader.hash())
  const changes: Change[] = []
  while (!reader.isAtEnd)
    changes.push(readChange(reader, { timeMs, texts, known: { words, hashes } }))
  return { sequence, timeMs, changes }
}

function hashesIn(change: Change): readonly string[] {
  switch (change.kind) {
    case 'record':
      return [change.entry.identity]
    case 'body':
    case 'refer':
      return [change.identity]
    case 'note':
      return [change.id]
    default:
      return []
  }
}

interface WritingPlace {
  readonly timeMs: number
  readonly known: KnownTexts
  indexOf(hash: string): number
}

function writeChange(to: ByteWriter, change: Change, { timeMs, indexOf, known }: WritingPlace) {
  switch (change.kind) {
    case 'invalidate':
      to.block(Buffer.from(JSON.stringify(change.match)))
      return
    case 'record': {
      const { identity, toolHash, pathHash, callHash, bytes, of, ...rest } = change.entry
      to.count(indexOf(identity)).count(KINDS.indexOf(rest.kind))
      to.word(toolHash)
        .count(pathHash >>> 0)
        .word(callHash)
        .count(bytes)
      to.count(ANSWERS.indexOf(rest.answer))
        .count(of)
        .signed(rest.timeMs - timeMs)
      to.count(change.lruSize)
      return
    }
    case 'body':
      to.count(indexOf(change.identity)).block(shortenNote(change.note, known))
      return
    case 'note':
      to.count(indexOf(change.id)).block(shortenNote(change.note.replace(ATTEMPT, '{'), known))
      return
    case 'refer':
      to.count(indexOf(change.identity)).count(change.sequence).word(change.callHash)
      return
    case 'count': {
      const counted = COUNTERS.flatMap((name, i) => {
        const value = change.counters[name]
        return value === undefined ? [] : [[i, value] as const]
      })
      to.count(counted.length)
      for (const [i, value] of counted) to.count(i).signed(value)
      return
    }
    case 'hint':
      to.count(change.family).count(change.max)
  }
}

interface ReadingPlace {
  readonly timeMs: number
  readonly texts: readonly TextSize[]
  readonly known: KnownTexts
}

function readChange(from: ByteReader, { timeMs, texts, known }: ReadingPlace): Change {
  const hash = () => itemOf(known.hashes, from.count())
  switch (from.count()) {
    case CODES.invalidate:
      return { kind: 'invalidate', match: JSON.parse(from.block().toString()) as EntryMatch }
    case CODES.record: {
      const [identity, kind] = [hash(), itemOf(KINDS, from.count())]
      // Most results have no path.
      const [toolHash, pathHash, callHash] = [from.word(), from.count() | 0, from.word()]
      const [bytes, answer] = [from.count(), itemOf(ANSWERS, from.count())]
      const rest = { of: from.count(), timeMs: timeMs + from.signed() }
      const entry = { identity, kind, toolHash, pathHash, callHash, bytes, answer, ...rest }
      return { kind: 'record', entry, lruSize: from.count() }
    }
    case CODES.body: {
      const text = itemOf(texts, from.count())
      return { kind: 'body', ...text, note: expandNote(from.block(), known) }
    }
    case CODES.note:
      return { kind: 'note', id: hash(), note: expandNote(from.block(), known) }
    case CODES.refer:
      return {
        kind: 'refer',
        identity: hash(),
        sequence: from.count(),
        callHash: from.word(),
      }
    case CODES.count: {
      const length = from.count()
      const counters: Partial<Record<keyof Counters, number>> = {}
      for (let i = 0; i < length; i++) counters[itemOf(COUNTERS, from.count())] = from.signed()
      return { kind: 'count', counters }
    }
    case CODES.hint:
      return { kind: 'hint', family: from.count(), max: from.count() }
    default:
      throw new SyntaxError('a change is of no kind')
  }
}

function itemOf<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new SyntaxError('a change names what is not there')
  return item
}

/** Hashes in hexadecimal, those of the texts first; the first index of each is its own. */
function createHashTable(texts: readonly TextSize[]) {
  const all = texts.map(({ identity }) => identity)
  const indexes = new Map<string, number>()
  for (const [i, hash] of all.entries()) if (!indexes.has(hash)) indexes.set(hash, i)
  return {
    all,
    indexOf(hash: string): number {
      const known = indexes.get(hash)
      if (known !== undefined) return known
      indexes.set(hash, all.length)
      return all.push(hash) - 1
    },
  }
}

/** The texts that changes add to what the agent has. */
function textsIn(changes: readonly Change[]): readonly TextSize[] {
  return changes.flatMap(each =>
    each.kind === 'body' ? [{ identity: each.identity, bytes: each.bytes }] : [],
  )
}
