/**
 * The filters show which first digits the entries of a session may have. If a body is in neither
 * filter, no entry is read; with many sessions, entries are not in the processor's cache. There are
 * two Bloom filters of 128 bits, with three bits for an entry. Used entries are added to the young
 * one. When that has as many entries as the session, it becomes the old one. An entry that is in
 * neither was used before all present ones, so it has been removed. No entry is read for that
 * either. With sixteen entries about one unknown body in thirty passes. Much longer sessions fill
 * the filters, and their chains are walked.
 */
import { ENTRY, FILTER_WORDS, type IndexView, SESSION } from './layout.ts'

/** Bits of the first word of an identity that place one of its bits. */
const PLACE_BITS = 7
const PLACE_MASK = (1 << PLACE_BITS) - 1
const COUNT_MASK = 0xffff

/** False if no entry of the session starts with the same 32 bits. */
export function mayHave({ words }: IndexView, session: number, first: number): boolean {
  return isIn(words, session + SESSION.young, first) || isIn(words, session + SESSION.old, first)
}

/** Notes that an entry of the session was used just now; it is in the chain. */
export function noteUse({ words }: IndexView, session: number, at: number): void {
  const young = session + SESSION.young
  const first = words[at + ENTRY.identity]!
  let filtered = words[session + SESSION.filtered]! & COUNT_MASK
  if (!isIn(words, young, first)) {
    add(words, young, first)
    filtered++
  }
  const isFull = filtered >= words[session + SESSION.length]!
  setFiltered(words, session, isFull ? 0 : filtered)
  if (!isFull) return
  for (let i = 0; i < FILTER_WORDS; i++) {
    words[session + SESSION.old + i] = words[young + i]!
    words[young + i] = 0
  }
}

/** For a session without entries. */
export function clearFilter({ words }: IndexView, session: number): void {
  setFiltered(words, session, 0)
  words.fill(0, session + SESSION.young, session + SESSION.young + 2 * FILTER_WORDS)
}

/** The upper half of the word is another field. */
function setFiltered(words: Int32Array, session: number, count: number): void {
  const at = session + SESSION.filtered
  words[at] = (words[at]! & ~COUNT_MASK) | count
}

function isIn(words: Int32Array, filter: number, first: number): boolean {
  return (
    hasBit(words, filter, first) &&
    hasBit(words, filter, first >>> PLACE_BITS) &&
    hasBit(words, filter, first >>> (2 * PLACE_BITS))
  )
}

function add(words: Int32Array, filter: number, first: number): void {
  for (let shift = 0; shift < 3 * PLACE_BITS; shift += PLACE_BITS) {
    const place = (first >>> shift) & PLACE_MASK
    words[filter + (place >>> 5)]! |= 1 << (place & 31)
  }
}

function hasBit(words: Int32Array, filter: number, bits: number): boolean {
  const place = bits & PLACE_MASK
  return ((words[filter + (place >>> 5)]! >>> (place & 31)) & 1) === 1
}
