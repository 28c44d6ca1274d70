import { createIdentityReader, identityText, sameIdentity } from '../index/identity.ts'
import type { SessionKey } from '../index/session-index.ts'
import { bodyChecksum, bodyImage, noteChecksum, wordsOfBody } from './body-image.ts'
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
  /** Index of the word at which the starts of its lines are. */
  readonly startsAt: number
  /** Byte of the memory at which its text starts. */
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
   * Keeps a body, in place of the oldest ones. It may be referred to once it is confirmed. A body
   * that the memory already holds, and will hold for a while, stays unchanged with its note.
   * @param identity SHA-256 of the text, 64 lower-case hex digits
   * @param note given back with it, for example how its call is named
   * @returns its position, or `null` if it would take more than an eighth of the memory
   */
  place(text: ScannedText, key: SessionKey, identity: string, note: string): number | null
  /** The body may be referred to from now on. Without effect if it was overwritten. */
  confirm(position: number): void
  /** It may not be referred to any more, until it is placed and confirmed again. */
  retract(identity: string, key: SessionKey): void
  /** Whether the body at a position is there and may not be referred to any more, or not yet. */
  isRetracted(position: number): boolean
  /** Places and confirms a body without a note. */
  put(text: ScannedText, key: SessionKey, identity: string): boolean
  /** The note of a confirmed body, if it is there. */
  noteOf(identity: string, key: SessionKey): string | null
  /** The body at a position, if a whole confirmed one of this session is there. */
  open(position: number, key: SessionKey): KeptBody | null
  /**
   * Whether the body is the one that its identity finds. The same body may have been placed twice,
   * with other notes, before either was confirmed.
   */
  isCurrent(body: KeptBody, key: SessionKey): boolean
  /**
   * Whether all bytes that were read of `body` before this call belonged to it. Reads the body
   * once.
   */
  isIntact(body: KeptBody): boolean
  /** Forgets everything. Only for a memory that no other thread uses. */
  clear(): void
  /** The text of a body, if it is still there. */
  read(identity: string, key: SessionKey): string | null
  /** The text of a body in UTF-8, with its position. */
  readBytes(identity: string, key: SessionKey): PlacedBytes | null
  /** Whether half of the memory was filled since. Then the body may soon be overwritten. */
  isAging(position: number): boolean
}

/** Line of the entries that find a body by its identity. */
const WHOLE_BODY = -1
/** No body takes more of the ring. */
const MAX_SHARE = 1 / 8

/**
 * This thread's access to a memory made by `createBodyMemory`.
 * @throws RangeError if the memory is not of this version
 */
export function attachBodyMemory(memory: ArrayBufferLike): BodyMemory {
  return new AttachedBodies(partsOfMemory(memory))
}

class AttachedBodies implements BodyMemory {
  readonly parts: MemoryParts
  readonly table: LineTable
  readonly #words: Int32Array
  readonly #ringUnits: number
  readonly #identities = createIdentityReader()
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  constructor(parts: MemoryParts) {
    this.parts = parts
    this.table = createLineTable(parts)
    this.#words = parts.words
    this.#ringUnits = parts.ringUnits
  }

  place(text: ScannedText, key: SessionKey, identity: string, note: string): number | null {
    const digest = this.#identities.read(identity)
    const image = bodyImage(text, key, digest, Buffer.from(note, 'utf8'))
    const units = image.length / UNIT_WORDS
    if (units > this.#ringUnits * MAX_SHARE) return null
    const kept = this.#find(identity, key)
    // A body in its last half is kept again.
    if (kept !== null && !this.isAging(kept.position)) return kept.position
    const position = this.#allocate(units)
    const at = this.#wordOf(position)
    Atomics.store(this.#words, at + BODY_STATE, 0)
    this.#words.set(image, at)
    // A thread that was suspended for a whole round of the ring has just overwritten other bodies,
    // whose checksums are now wrong.
    if (!this.#isLive(position)) return null
    Atomics.store(this.#words, at + BODY_STATE, position + 1)
    this.#insertLines(text, position)
    const [one, two] = this.#identities.read(identity)
    this.table.insert(one! ^ key[0], two! ^ key[1], position, WHOLE_BODY)
    return position
  }

  confirm(position: number): void {
    const words = this.#words
    const at = this.#wordOf(position)
    // This is safe if a later body has its note there, because a mark with another position has no
    // meaning for it.
    if (Atomics.load(words, at + BODY_STATE) !== position + 1 || !this.#isLive(position)) return
    Atomics.compareExchange(words, at + BODY_READY, 0, position + 1)
  }

  retract(identity: string, key: SessionKey): void {
    for (let body = this.#find(identity, key); body !== null; body = this.#find(identity, key)) {
      const { position } = body
      const at = this.#wordOf(position) + BODY_READY
      if (Atomics.compareExchange(this.#words, at, position + 1, 0) !== position + 1) return
    }
  }

  isRetracted(position: number): boolean {
    const at = this.#wordOf(position)
    const isThere = Atomics.load(this.#words, at + BODY_STATE) === position + 1
    return isThere && Atomics.load(this.#words, at + BODY_READY) !== position + 1
  }

  put(text: ScannedText, key: SessionKey, identity: string): boolean {
    const position = this.place(text, key, identity, '')
    if (position !== null) this.confirm(position)
    return position !== null
  }

  noteOf(identity: string, key: SessionKey): string | null {
    const body = this.#find(identity, key)
    if (body === null) return null
    const at = this.#wordOf(body.position)
    const start = body.textAt + this.#words[at + BODY_BYTES]!
    const end = start + this.#words[at + BODY_NOTE]!
    const copy = Buffer.from(this.parts.bytes.subarray(start, end))
    const isWhole = this.#isNoteIntact(body, copy) && body.identity === identity
    return isWhole ? copy.toString('utf8') : null
  }

  open(position: number, key: SessionKey): KeptBody | null {
    const words = this.#words
    const at = this.#wordOf(position)
    if (Atomics.load(words, at + BODY_STATE) !== position + 1) return null
    if (Atomics.load(words, at + BODY_READY) !== position + 1) return null
    for (let i = 0; i < KEY_WORDS; i++) if (words[at + BODY_KEY + i] !== key[i]) return null
    const lines = words[at + BODY_LINES]!
    const length = wordsOfBody(lines, words[at + BODY_BYTES]! + words[at + BODY_NOTE]!)
    const most = this.#ringUnits * UNIT_WORDS * MAX_SHARE
    if (!(length <= most && at + length <= words.length)) return null
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

  isCurrent({ identity, position }: KeptBody, key: SessionKey): boolean {
    return this.#find(identity, key)?.position === position
  }

  isIntact(body: KeptBody): boolean {
    if (!this.#isLive(body.position)) return false
    const words = this.#words
    const at = this.#wordOf(body.position)
    const length = wordsOfBody(body.lines, words[at + BODY_BYTES]! + words[at + BODY_NOTE]!)
    if (!(at + length <= words.length)) return false
    const [one, two] = bodyChecksum(words, at, at + length)
    return words[at + BODY_CHECKSUM] === one && words[at + BODY_CHECKSUM + 1] === two
  }

  clear(): void {
    // Bodies in the ring are found by the table only.
    this.#words.fill(0, this.parts.tableStart, this.parts.ringStart)
    this.#words[AT_HEAD] = 0
  }

  read(identity: string, key: SessionKey): string | null {
    const found = this.readBytes(identity, key)
    return found === null ? null : this.#decoder.decode(found.bytes)
  }

  readBytes(identity: string, key: SessionKey): PlacedBytes | null {
    const body = this.#find(identity, key)
    if (body === null) return null
    const length = this.#words[body.startsAt + body.lines]! - 1
    const copy = this.parts.bytes.slice(body.textAt, body.textAt + length)
    const isWhole = this.isIntact(body) && body.identity === identity
    return isWhole ? { position: body.position, bytes: copy } : null
  }

  isAging(position: number): boolean {
    return ageOf(this.parts, position, this.#words[AT_HEAD]!) >= this.#ringUnits / 2
  }

  /**
   * Allocates `units` in a row. If they would extend beyond the ring's end, they are at its start.
   */
  #allocate(units: number): number {
    for (;;) {
      const head = Atomics.load(this.#words, AT_HEAD)
      const at = head % this.#ringUnits
      const fits = at + units <= this.#ringUnits
      const start = fits ? head : this.#wrap(head - at + this.#ringUnits)
      const next = this.#wrap(start + units)
      if (Atomics.compareExchange(this.#words, AT_HEAD, head, next) === head) return start
    }
  }

  #wrap(position: number): number {
    return position >= this.parts.positions ? 0 : position
  }

  #wordOf(position: number): number {
    return this.parts.ringStart + (position % this.#ringUnits) * UNIT_WORDS
  }

  /**
   * Whether no later body was given the place. It adds 0 instead of loading, since earlier reads
   * may be moved after a load.
   */
  #isLive(position: number): boolean {
    return ageOf(this.parts, position, Atomics.add(this.#words, AT_HEAD, 0)) <= this.#ringUnits
  }

  #insertLines({ hashes, lines, unnamed, covered }: ScannedText, position: number): void {
    for (let line = 0; line < lines; line++) {
      const first = hashes[2 * line]!
      // Places for each hash are few: none is for a line that no reference can begin with.
      if (first !== 0 && unnamed?.[line] !== 1 && covered?.[line] !== 1)
        this.table.insert(first, hashes[2 * line + 1]!, position, line)
    }
  }

  #find(identity: string, key: SessionKey): KeptBody | null {
    const digest = this.#identities.read(identity)
    const places = this.table.find(digest[0]! ^ key[0], digest[1]! ^ key[1])
    for (let i = 0; i < places.count; i++) {
      if (places.lines[i] !== WHOLE_BODY) continue
      const body = this.open(places.positions[i]!, key)
      if (body === null) continue
      const at = this.#wordOf(body.position) + BODY_IDENTITY
      if (sameIdentity(this.#words, at, digest)) return body
    }
    return null
  }

  /**
   * Whether a note, and the words that give its place, are the body's own. Notes are read much more
   * often than bodies, so they have a checksum of their own.
   */
  #isNoteIntact(body: KeptBody, note: Uint8Array): boolean {
    if (!this.#isLive(body.position)) return false
    const words = this.#words
    const at = this.#wordOf(body.position)
    const [one, two] = noteChecksum(words, at, note)
    return words[at + BODY_NOTE_CHECKSUM] === one && words[at + BODY_NOTE_CHECKSUM + 1] === two
  }
}
