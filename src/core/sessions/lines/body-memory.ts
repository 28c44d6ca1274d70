import { createIdentityReader, identityText, sameIdentity } from '../index/identity.ts'
import type { SessionKey } from '../index/session-key.ts'
import { ageOf, createLineTable, type LineTable } from './line-table.ts'
import {
  AT_HEAD,
  BODY_BYTES,
  BODY_CHECKSUM,
  BODY_IDENTITY,
  BODY_KEY,
  BODY_LINES,
  BODY_NOTE,
  BODY_NOTE_CHECKSUM,
  BODY_NUMBERED,
  BODY_READY,
  BODY_STARTS,
  BODY_STATE,
  IDENTITY_WORDS,
  KEY_WORDS,
  type MemoryParts,
  partsOfMemory,
  UNIT_WORDS,
} from './memory-layout.ts'
import type { ScannedText } from './scan-text.ts'

/** A body in the memory. All of it may be overwritten at any time; see `isIntact`. */
export interface KeptBody {
  readonly position: number
  /** SHA-256 of the body, 64 hex digits. */
  readonly identity: string
  readonly lines: number
  readonly numbered: boolean
  /** Word where the starts of its lines are. */
  readonly startsAt: number
  /** Byte of the memory where its text starts. */
  readonly textAt: number
}

/** A copy of a body. */
export interface PlacedBytes {
  readonly position: number
  readonly bytes: Uint8Array
}

/** Bodies of recent results of all sessions, and a table that finds their lines. */
export interface BodyMemory {
  readonly parts: MemoryParts
  readonly table: LineTable
  /**
   * Keeps a body, in place of the oldest ones, to be referred to once it is confirmed. One that is
   * there already, and for a while yet, stays as it is with its note.
   * @param identity SHA-256 of the text, 64 lower-case hex digits
   * @param note given back with it, for example how its call is named
   * @returns where it is now, or `null`: one of more than an eighth of the memory is not kept
   */
  place(text: ScannedText, key: SessionKey, identity: string, note: string): number | null
  /** The body may be referred to from now on. Without effect where it was overwritten. */
  confirm(position: number): void
  /** It may not be referred to any more, until it is placed and confirmed again. */
  retract(identity: string, key: SessionKey): void
  /** Whether the body at a position is there and may not be referred to any more, or not yet. */
  isRetracted(position: number): boolean
  /** Both at once, without a note. */
  put(text: ScannedText, key: SessionKey, identity: string): boolean
  /** The note of a confirmed body, if it is there. */
  noteOf(identity: string, key: SessionKey): string | null
  /** The body at a position, if a whole confirmed one of this session is there. */
  open(position: number, key: SessionKey): KeptBody | null
  /** Whether all that was read of `body` before this call was its own. Reads the body once. */
  isIntact(body: KeptBody): boolean
  /** Forgets everything. Only for a memory that nobody else uses. */
  clear(): void
  /** The text of a body, if it is still there. */
  read(identity: string, key: SessionKey): string | null
  /** The same in UTF-8, with where it lies. */
  readBytes(identity: string, key: SessionKey): PlacedBytes | null
  /** Whether half of the memory was filled since: then it may soon be overwritten. */
  isAging(position: number): boolean
}

/** Line of the entries that find a body by its identity. */
const WHOLE_BODY = -1
/** No body takes more of the ring. */
const MAX_SHARE = 1 / 8

/**
 * This thread's access to a memory made by `createBodyMemory`.
 * @throws RangeError if it is none of this version
 */
export function attachBodyMemory(memory: ArrayBufferLike): BodyMemory {
  const parts = partsOfMemory(memory)
  const { words, bytes, ringStart, ringUnits, positions } = parts
  const table = createLineTable(parts)
  const identities = createIdentityReader()

  /** Gives out `units` in a row, past the ring's end from its start on. */
  function allocate(units: number): number {
    for (;;) {
      const head = Atomics.load(words, AT_HEAD)
      const at = head % ringUnits
      const start = at + units <= ringUnits ? head : wrap(head - at + ringUnits)
      if (Atomics.compareExchange(words, AT_HEAD, head, wrap(start + units)) === head) return start
    }
  }

  const wrap = (position: number) => (position >= positions ? 0 : position)
  const wordOf = (position: number) => ringStart + (position % ringUnits) * UNIT_WORDS

  /**
   * Whether no later body was given the place. An addition of nothing, since a load lets earlier
   * reads pass it.
   */
  const isLive = (position: number) =>
    ageOf(parts, position, Atomics.add(words, AT_HEAD, 0)) <= ringUnits

  function place(text: ScannedText, key: SessionKey, identity: string, note: string) {
    const image = bodyImage(text, key, identities.read(identity), Buffer.from(note, 'utf8'))
    const units = image.length / UNIT_WORDS
    if (units > ringUnits * MAX_SHARE) return null
    const kept = find(identity, key)
    // One that is in its last half is kept again.
    if (kept !== null && !isAging(kept.position)) return kept.position
    const position = allocate(units)
    const at = wordOf(position)
    Atomics.store(words, at + BODY_STATE, 0)
    words.set(image, at)
    // A thread that was held up for a whole round of the ring has just written over others; they
    // have checksums.
    if (!isLive(position)) return null
    Atomics.store(words, at + BODY_STATE, position + 1)
    for (let line = 0; line < text.lines; line++) {
      const first = text.hashes[2 * line]!
      if (first !== 0) table.insert(first, text.hashes[2 * line + 1]!, position, line)
    }
    const digest = identities.read(identity)
    table.insert(digest[0]! ^ key[0], digest[1]! ^ key[1], position, WHOLE_BODY)
    return position
  }

  function confirm(position: number): void {
    const at = wordOf(position)
    // The note of a later body there is safe: a mark that is not its own position says nothing to
    // it.
    if (Atomics.load(words, at + BODY_STATE) !== position + 1 || !isLive(position)) return
    Atomics.compareExchange(words, at + BODY_READY, 0, position + 1)
  }

  function retract(identity: string, key: SessionKey): void {
    for (let body = find(identity, key); body !== null; body = find(identity, key)) {
      const { position } = body
      const at = wordOf(position) + BODY_READY
      if (Atomics.compareExchange(words, at, position + 1, 0) !== position + 1) return
    }
  }

  function isRetracted(position: number): boolean {
    const at = wordOf(position)
    const isThere = Atomics.load(words, at + BODY_STATE) === position + 1
    return isThere && Atomics.load(words, at + BODY_READY) !== position + 1
  }

  function open(position: number, key: SessionKey): KeptBody | null {
    const at = wordOf(position)
    if (Atomics.load(words, at + BODY_STATE) !== position + 1) return null
    if (Atomics.load(words, at + BODY_READY) !== position + 1) return null
    for (let i = 0; i < KEY_WORDS; i++) if (words[at + BODY_KEY + i] !== key[i]) return null
    const lines = words[at + BODY_LINES]!
    const length = wordsOfBody(lines, words[at + BODY_BYTES]! + words[at + BODY_NOTE]!)
    if (!(length <= ringUnits * UNIT_WORDS * MAX_SHARE && at + length <= words.length)) return null
    const startsAt = at + BODY_STARTS
    return {
      position,
      identity: identityText(words, at + BODY_IDENTITY),
      lines,
      numbered: words[at + BODY_NUMBERED] === 1,
      startsAt,
      textAt: (startsAt + lines + 1) * 4,
    }
  }

  function isIntact(body: KeptBody): boolean {
    if (!isLive(body.position)) return false
    const at = wordOf(body.position)
    const length = wordsOfBody(body.lines, words[at + BODY_BYTES]! + words[at + BODY_NOTE]!)
    if (!(at + length <= words.length)) return false
    const [one, two] = checksum(words, at, at + length)
    return words[at + BODY_CHECKSUM] === one && words[at + BODY_CHECKSUM + 1] === two
  }

  /** The same for its note and what names it: those are asked for much more often than the body. */
  function isNoteIntact(body: KeptBody, note: Uint8Array): boolean {
    if (!isLive(body.position)) return false
    const at = wordOf(body.position)
    const [one, two] = noteChecksum(words, at, note)
    return words[at + BODY_NOTE_CHECKSUM] === one && words[at + BODY_NOTE_CHECKSUM + 1] === two
  }

  function find(identity: string, key: SessionKey): KeptBody | null {
    const digest = identities.read(identity)
    const places = table.find(digest[0]! ^ key[0], digest[1]! ^ key[1])
    for (let i = 0; i < places.count; i++) {
      if (places.lines[i] !== WHOLE_BODY) continue
      const body = open(places.positions[i]!, key)
      if (body === null) continue
      const at = wordOf(body.position) + BODY_IDENTITY
      if (sameIdentity(words, at, digest)) return body
    }
    return null
  }

  function isAging(position: number): boolean {
    return ageOf(parts, position, words[AT_HEAD]!) >= ringUnits / 2
  }

  function readBytes(identity: string, key: SessionKey): PlacedBytes | null {
    const body = find(identity, key)
    if (body === null) return null
    const length = words[body.startsAt + body.lines]! - 1
    const copy = bytes.slice(body.textAt, body.textAt + length)
    const isWhole = isIntact(body) && body.identity === identity
    return isWhole ? { position: body.position, bytes: copy } : null
  }

  function read(identity: string, key: SessionKey): string | null {
    const found = readBytes(identity, key)
    return found === null ? null : decoder.decode(found.bytes)
  }

  function put(text: ScannedText, key: SessionKey, identity: string): boolean {
    const position = place(text, key, identity, '')
    if (position !== null) confirm(position)
    return position !== null
  }

  function noteOf(identity: string, key: SessionKey): string | null {
    const body = find(identity, key)
    if (body === null) return null
    const at = wordOf(body.position)
    const start = body.textAt + words[at + BODY_BYTES]!
    const copy = Buffer.from(bytes.subarray(start, start + words[at + BODY_NOTE]!))
    return isNoteIntact(body, copy) && body.identity === identity ? copy.toString('utf8') : null
  }

  function clear(): void {
    // What lies in the ring is found by the table only.
    words.fill(0, parts.tableStart, ringStart)
    words[AT_HEAD] = 0
  }

  const reads = { noteOf, read, readBytes, isAging, isRetracted, clear }
  return { parts, table, place, confirm, retract, put, open, isIntact, ...reads }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** A body as it will lie in the memory, but for its state. */
function bodyImage(
  text: ScannedText,
  key: SessionKey,
  identity: Int32Array,
  note: Uint8Array,
): Int32Array {
  const { lines, bytes } = text
  const length = wordsOfBody(lines, bytes.length + note.length)
  const image = new Int32Array(Math.ceil(length / UNIT_WORDS) * UNIT_WORDS)
  image[BODY_BYTES] = bytes.length
  image[BODY_LINES] = lines
  image[BODY_NUMBERED] = text.numbered ? 1 : 0
  image[BODY_NOTE] = note.length
  image.set(key, BODY_KEY)
  image.set(identity.subarray(0, IDENTITY_WORDS), BODY_IDENTITY)
  image.set(text.starts, BODY_STARTS)
  const textAt = (BODY_STARTS + lines + 1) * 4
  const out = new Uint8Array(image.buffer)
  out.set(bytes, textAt)
  out.set(note, textAt + bytes.length)
  image.set(noteChecksum(image, 0, note), BODY_NOTE_CHECKSUM)
  image.set(checksum(image, 0, length), BODY_CHECKSUM)
  return image
}

function wordsOfBody(lines: number, bytes: number): number {
  return BODY_STARTS + lines + 1 + Math.ceil(bytes / 4)
}

/**
 * Of the words of a body but its states and the checksum itself; to notice damage, not to prove
 * anything.
 */
function checksum(words: Int32Array, start: number, end: number): readonly [number, number] {
  const sum = createSum(end - start)
  sum.add(words, start + BODY_BYTES, start + BODY_CHECKSUM)
  sum.add(words, start + BODY_KEY, start + BODY_READY)
  sum.add(words, start + BODY_NOTE, start + BODY_NOTE_CHECKSUM)
  sum.add(words, start + BODY_STARTS, end)
  return sum.value()
}

/** Of a note, and of the words from which its place and its body's name are known. */
function noteChecksum(words: Int32Array, start: number, note: Uint8Array) {
  const sum = createSum(note.length)
  sum.add(words, start + BODY_BYTES, start + BODY_CHECKSUM)
  sum.add(words, start + BODY_KEY, start + BODY_READY)
  sum.add(note, 0, note.length)
  return sum.value()
}

function createSum(seed: number) {
  let one = 0x811c9dc5 | 0
  let two = seed
  return {
    add(numbers: Int32Array | Uint8Array, from: number, to: number): void {
      for (let at = from; at < to; at++) {
        const number = numbers[at]!
        one = Math.imul(one ^ number, 0x01000193)
        two = Math.imul(two + number, 0x5bd1e995) ^ (two >>> 15)
      }
    },
    value: (): readonly [number, number] => [one, two],
  }
}
