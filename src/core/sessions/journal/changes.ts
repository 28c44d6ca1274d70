import {
  ANSWERS,
  type Counters,
  type EntryMatch,
  KINDS,
  type NewEntry,
} from '../index/session-index.ts'

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

/** Those of one result or of several, ready for the processes that share the session. */
export interface SessionChanges {
  readonly session: string
  /** The life of the session that they are of. */
  readonly epoch: number
  /** For `readChanges`. */
  readonly bytes: Uint8Array
  /** The texts that they add to what the agent has. */
  readonly texts: readonly TextSize[]
  /** `bytes` as `packChanges` gives them, if the thread that made them has packed them. */
  readonly packed?: Uint8Array
}

/** Raise if a reader of the present version would misunderstand what is written. */
const VERSION = 1

const NEW_LINE = Buffer.from('\n')

/** Larger notes are answers for retries, which then are answered as new calls. */
const MAX_NOTE_CHARS = 8_192

/**
 * Changes as bytes: a line of JSON, with the version, the sequence, the time, the hashes in base64,
 * and of each change its kind and fields in a fixed order, in which a hash is its index.
 */
export function writeChanges({ sequence, timeMs, changes }: TurnChanges): Uint8Array {
  const hashes = createHashTable()
  const kept = changes.filter(each => !('note' in each) || each.note.length <= MAX_NOTE_CHARS)
  const rows = kept.map(change => rowOf(change, timeMs, hashes.indexOf))
  return Buffer.from(JSON.stringify([VERSION, sequence, timeMs, hashes.all, ...rows]))
}

/** The changes of several results of a session as those of one, in their order. */
export function joinChanges(parts: readonly SessionChanges[]): SessionChanges {
  const [first] = parts as [SessionChanges]
  if (parts.length === 1) return first
  const { packed: _, ...named } = first
  return {
    ...named,
    bytes: Buffer.concat(parts.flatMap(({ bytes }, i) => (i === 0 ? [bytes] : [NEW_LINE, bytes]))),
    texts: parts.flatMap(({ texts }) => texts),
  }
}

/**
 * The changes of each result; `null` for those of another version, and for no bytes: it is unknown
 * what they changed.
 * @throws SyntaxError for bytes that `writeChanges` has not written
 */
export function readChanges(bytes: Uint8Array): readonly (TurnChanges | null)[] {
  return Buffer.from(bytes).toString().split('\n').map(readTurn)
}

function readTurn(line: string): TurnChanges | null {
  if (line === '') return null
  const read = JSON.parse(line) as Written
  const [version, sequence, timeMs, hashes, ...rows] = read
  if (version !== VERSION) return null
  const hash = (index: number) => Buffer.from(hashes[index]!, 'base64url').toString('hex')
  return { sequence, timeMs, changes: rows.map(row => changeOf(row, timeMs, hash)) }
}

type Written = readonly [number, number, number, readonly string[], ...Row[]]

type Row =
  | readonly ['i', EntryMatch]
  | readonly ['r', number, ...EntryFields, lruSize: number]
  | readonly ['b', number, bytes: number, note: string]
  | readonly ['n', number, note: string]
  | readonly ['f', number, sequence: number, callHash: number]
  | readonly ['c', Partial<Counters>]
  | readonly ['h', family: number, max: number]

type EntryFields = readonly [
  kind: number,
  toolHash: number,
  pathHash: number,
  callHash: number,
  bytes: number,
  answer: number,
  of: number,
  /** After the turn's time. */
  ageMs: number,
]

function rowOf(change: Change, timeMs: number, indexOf: (hash: string) => number): Row {
  switch (change.kind) {
    case 'invalidate':
      return ['i', change.match]
    case 'record': {
      const { identity, toolHash, pathHash, callHash, bytes, of, ...rest } = change.entry
      const [kind, answer] = [KINDS.indexOf(rest.kind), ANSWERS.indexOf(rest.answer)]
      const fields = [kind, toolHash, pathHash, callHash, bytes, answer, of] as const
      return ['r', indexOf(identity), ...fields, rest.timeMs - timeMs, change.lruSize]
    }
    case 'body':
      return ['b', indexOf(change.identity), change.bytes, change.note]
    case 'note':
      return ['n', indexOf(change.id), change.note]
    case 'refer':
      return ['f', indexOf(change.identity), change.sequence, change.callHash]
    case 'count':
      return ['c', change.counters]
    case 'hint':
      return ['h', change.family, change.max]
  }
}

function changeOf(row: Row, timeMs: number, hash: (index: number) => string): Change {
  switch (row[0]) {
    case 'i':
      return { kind: 'invalidate', match: row[1] }
    case 'r': {
      const [, index, kind, toolHash, pathHash, callHash, bytes, answer, of, ageMs, lruSize] = row
      const hashes = { identity: hash(index), toolHash, pathHash, callHash }
      const rest = { bytes, of, timeMs: timeMs + ageMs }
      const entry = { ...hashes, kind: KINDS[kind]!, answer: ANSWERS[answer]!, ...rest }
      return { kind: 'record', entry, lruSize }
    }
    case 'b':
      return { kind: 'body', identity: hash(row[1]), bytes: row[2], note: row[3] }
    case 'n':
      return { kind: 'note', id: hash(row[1]), note: row[2] }
    case 'f':
      return { kind: 'refer', identity: hash(row[1]), sequence: row[2], callHash: row[3] }
    case 'c':
      return { kind: 'count', counters: row[1] }
    case 'h':
      return { kind: 'hint', family: row[1], max: row[2] }
  }
}

/** Hashes in hexadecimal, each once. */
function createHashTable() {
  const indexes = new Map<string, number>()
  return {
    indexOf(hash: string): number {
      const known = indexes.get(hash) ?? indexes.size
      indexes.set(hash, known)
      return known
    },
    get all() {
      return [...indexes.keys()].map(hash => Buffer.from(hash, 'hex').toString('base64url'))
    },
  }
}

/** The texts that changes add to what the agent has. */
export function textsIn(changes: readonly Change[]): readonly TextSize[] {
  return changes.flatMap(each =>
    each.kind === 'body' ? [{ identity: each.identity, bytes: each.bytes }] : [],
  )
}
