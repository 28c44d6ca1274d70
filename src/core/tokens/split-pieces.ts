/**
 * The split patterns of o200k_base and cl100k_base (`pat_str` in tiktoken's data), written by hand
 * over UTF-8 bytes. Byte pair merges never cross the ends of a piece. Each function returns the end
 * of the pattern's leftmost match at a position, backtracking included. Every byte is read a
 * bounded number of times.
 */
import {
  CASELESS,
  type ClassTable,
  END,
  LOWER,
  MARK,
  NEWLINE,
  NUMBER,
  OTHER,
  SPACE,
  UPPER,
} from './unicode-classes.ts'

/**
 * The byte that must follow the text in the buffer: never part of UTF-8, so no loop needs a bound.
 */
export const SENTINEL = 0xff

const APOSTROPHE = 0x27
const BLANK = 0x20
const SLASH = 0x2f
/** ſ, U+017F, which folds to `s` under `(?i:…)`. */
const LONG_S_LEAD = 0xc5
const LONG_S_TAIL = 0xbf

/** Class of each ASCII byte; lead bytes of longer sequences are `MULTI`, the sentinel is `END`. */
const MULTI = 9
const CLASS_OF_BYTE = classOfBytes()

function classOfBytes(): Uint8Array {
  const classes = new Uint8Array(256).fill(MULTI)
  for (let byte = 0; byte < 0x80; byte++) {
    const char = String.fromCharCode(byte)
    classes[byte] = /[A-Z]/.test(char)
      ? UPPER
      : /[a-z]/.test(char)
        ? LOWER
        : /[0-9]/.test(char)
          ? NUMBER
          : /[\r\n]/.test(char)
            ? NEWLINE
            : /[\t\v\f ]/.test(char)
              ? SPACE
              : OTHER
  }
  classes[SENTINEL] = END
  return classes
}

/** Class of the character at `at`, plus its length in bytes << 4. */
function classAndWidth(bytes: Uint8Array, at: number, table: ClassTable): number {
  const lead = bytes[at]!
  const simple = CLASS_OF_BYTE[lead]!
  if (simple !== MULTI) return simple | 16
  return wideClassAndWidth(bytes, at, lead, table)
}

function wideClassAndWidth(bytes: Uint8Array, at: number, lead: number, table: ClassTable): number {
  if (lead < 0xe0) {
    const point = ((lead & 0x1f) << 6) | (bytes[at + 1]! & 0x3f)
    return classOfPoint(point, table) | 32
  }
  if (lead < 0xf0) {
    const point = ((lead & 0x0f) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f)
    return classOfPoint(point, table) | 48
  }
  const point =
    ((lead & 0x07) << 18) |
    ((bytes[at + 1]! & 0x3f) << 12) |
    ((bytes[at + 2]! & 0x3f) << 6) |
    (bytes[at + 3]! & 0x3f)
  return classOfPoint(point, table) | 64
}

function classOfPoint(point: number, table: ClassTable): number {
  return table.classes[(table.blockOf[point >> 7]! << 7) | (point & 127)]!
}

/**
 * End of the piece that starts at `at`, for o200k_base.
 * `bytes` is UTF-8 followed by SENTINEL; `at` is at a character and before the sentinel.
 */
export function pieceEndO200k(bytes: Uint8Array, at: number, table: ClassTable): number {
  const first = classAndWidth(bytes, at, table)
  const kind = first & 15
  if (kind >= UPPER && kind <= MARK) {
    // A mark may be the pattern's prefix as well as a letter; both readings end at the same place.
    return contractionEnd(bytes, casedLettersEnd(bytes, at, table))
  }
  if (kind === NUMBER) return digitsEnd(bytes, at, table)
  const next = at + (first >> 4)
  if (kind !== NEWLINE) {
    const end = casedLettersEnd(bytes, next, table)
    if (end > next) return contractionEnd(bytes, end)
  }
  if (kind === OTHER) return newlinesEnd(bytes, symbolsEnd(bytes, next, table), SLASH)
  if (bytes[at] === BLANK) {
    const end = symbolsEnd(bytes, next, table)
    if (end > next) return newlinesEnd(bytes, end, SLASH)
  }
  return spacesEnd(bytes, at, table)
}

/** End of the piece that starts at `at`, for cl100k_base; same conditions as `pieceEndO200k`. */
export function pieceEndCl100k(bytes: Uint8Array, at: number, table: ClassTable): number {
  const first = classAndWidth(bytes, at, table)
  const kind = first & 15
  const next = at + (first >> 4)
  if (kind >= UPPER && kind <= CASELESS) return lettersEnd(bytes, next, table)
  if (kind === NUMBER) return digitsEnd(bytes, at, table)
  if (kind !== NEWLINE) {
    if (bytes[at] === APOSTROPHE) {
      const end = contractionEnd(bytes, at)
      if (end > at) return end
    }
    const end = lettersEnd(bytes, next, table)
    if (end > next) return end
  }
  if (kind === OTHER || kind === MARK) {
    return newlinesEnd(bytes, symbolsEnd(bytes, next, table), NEWLINE_ONLY)
  }
  if (bytes[at] === BLANK) {
    const end = symbolsEnd(bytes, next, table)
    if (end > next) return newlinesEnd(bytes, end, NEWLINE_ONLY)
  }
  return spacesEnd(bytes, at, table)
}

/**
 * `[Lu Lt Lm Lo M]*[Ll Lm Lo M]+` or else `[Lu Lt Lm Lo M]+[Ll Lm Lo M]*` at `at`; `at` if neither
 * matches. If no lower-case letter follows the first run, the pattern gives characters back until
 * one is left that counts as lower case too: the run then ends after its last caseless letter or
 * mark.
 */
function casedLettersEnd(bytes: Uint8Array, at: number, table: ClassTable): number {
  let end = at
  let caselessEnd = -1
  let next = classAndWidth(bytes, end, table)
  for (;;) {
    const kind = next & 15
    if (kind === UPPER) end += next >> 4
    else if (kind === CASELESS || kind === MARK) {
      end += next >> 4
      caselessEnd = end
    } else break
    next = classAndWidth(bytes, end, table)
  }
  if ((next & 15) !== LOWER) return caselessEnd >= 0 ? caselessEnd : end
  do {
    end += next >> 4
    next = classAndWidth(bytes, end, table)
  } while ((next & 15) >= LOWER && (next & 15) <= MARK)
  return end
}

/** `\p{L}*` */
function lettersEnd(bytes: Uint8Array, at: number, table: ClassTable): number {
  let end = at
  for (;;) {
    const next = classAndWidth(bytes, end, table)
    const kind = next & 15
    if (kind < UPPER || kind > CASELESS) return end
    end += next >> 4
  }
}

/** `(?i:'s|'t|'re|'ve|'m|'ll|'d)?` */
function contractionEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== APOSTROPHE) return at
  const letter = bytes[at + 1]!
  switch (letter | 0x20) {
    case 0x73: // s
    case 0x74: // t
    case 0x6d: // m
    case 0x64: // d
      return at + 2
    case 0x72: // re
    case 0x76: // ve
      return (bytes[at + 2]! | 0x20) === 0x65 ? at + 3 : at
    case 0x6c: // ll
      return (bytes[at + 2]! | 0x20) === 0x6c ? at + 3 : at
    default:
      return letter === LONG_S_LEAD && bytes[at + 2] === LONG_S_TAIL ? at + 3 : at
  }
}

/** `\p{N}{1,3}`, of which the first is known to be at `at`. */
function digitsEnd(bytes: Uint8Array, at: number, table: ClassTable): number {
  let end = at
  for (let count = 0; count < 3; count++) {
    const next = classAndWidth(bytes, end, table)
    if ((next & 15) !== NUMBER) break
    end += next >> 4
  }
  return end
}

/** `[^\s\p{L}\p{N}]*` */
function symbolsEnd(bytes: Uint8Array, at: number, table: ClassTable): number {
  let end = at
  for (;;) {
    const next = classAndWidth(bytes, end, table)
    const kind = next & 15
    if (kind !== OTHER && kind !== MARK) return end
    end += next >> 4
  }
}

const NEWLINE_ONLY = 0x0a

/** `[\r\n]*`, with `also` as a third byte of the set. */
function newlinesEnd(bytes: Uint8Array, at: number, also: number): number {
  let end = at
  while (bytes[end] === 0x0a || bytes[end] === 0x0d || bytes[end] === also) end++
  return end
}

/**
 * `\s*[\r\n]+|\s+(?!\S)|\s+`: up to the last newline of the run, else all but its last character.
 */
function spacesEnd(bytes: Uint8Array, at: number, table: ClassTable): number {
  let end = at
  let last = at
  let newlineEnd = -1
  for (;;) {
    const next = classAndWidth(bytes, end, table)
    const kind = next & 15
    if (kind === NEWLINE) newlineEnd = end + 1
    else if (kind !== SPACE) {
      if (newlineEnd >= 0) return newlineEnd
      return kind === END || last === at ? end : last
    }
    last = end
    end += next >> 4
  }
}
