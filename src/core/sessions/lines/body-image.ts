import type { SessionKey } from '../index/session-index.ts'
import {
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
  IDENTITY_WORDS,
  UNIT_WORDS,
} from './memory-layout.ts'
import type { ScannedText } from './scan-text.ts'

/** The words of a body as the memory holds them, except for its states. */
export function bodyImage(
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
  mark(image, text.signed, SIGNED)
  mark(image, text.covered, COVERED)
  const textAt = (BODY_STARTS + lines + 1) * 4
  const out = new Uint8Array(image.buffer)
  out.set(bytes, textAt)
  out.set(note, textAt + bytes.length)
  image.set(noteChecksum(image, 0, note), BODY_NOTE_CHECKSUM)
  image.set(bodyChecksum(image, 0, length), BODY_CHECKSUM)
  return image
}

/** Set in the start of a line that has a diff's sign before it. */
const SIGNED = 1 << 31
/** Set in the start of a line that was a reference in the answer. No body is so long. */
const COVERED = 1 << 30

function mark(image: Int32Array, lines: Uint8Array | null, bit: number): void {
  if (lines === null) return
  for (let line = 0; line < lines.length; line++)
    if (lines[line] === 1) image[BODY_STARTS + line]! |= bit
}

/** Byte of the body's text at which a line starts, by the word that holds it. */
export function startIn(word: number): number {
  return word & ~(SIGNED | COVERED)
}

/** Whether the line that starts there has a diff's sign before it. */
export function isSignedIn(word: number): boolean {
  return (word & SIGNED) !== 0
}

/** Whether the line that starts there was a reference in the answer. */
export function isCoveredIn(word: number): boolean {
  return (word & COVERED) !== 0
}

/** Words that a body takes, with `bytes` of text and note. */
export function wordsOfBody(lines: number, bytes: number): number {
  return BODY_STARTS + lines + 1 + Math.ceil(bytes / 4)
}

/**
 * Checksum of the words of a body, without its states and the checksum itself. It notices damage;
 * it proves nothing.
 */
export function bodyChecksum(
  words: Int32Array,
  start: number,
  end: number,
): readonly [number, number] {
  const sum = createSum(end - start)
  sum.add(words, start + BODY_BYTES, start + BODY_CHECKSUM)
  sum.add(words, start + BODY_KEY, start + BODY_READY)
  sum.add(words, start + BODY_NOTE, start + BODY_NOTE_CHECKSUM)
  sum.add(words, start + BODY_STARTS, end)
  return sum.value()
}

/** Checksum of a note, and of the words that give its place and the name of its body. */
export function noteChecksum(words: Int32Array, start: number, note: Uint8Array) {
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
