import {
  BACKSLASH,
  COLON,
  COMMA,
  DIGIT,
  DOT,
  IN_WORD,
  MINUS,
  PLUS,
  SLASH,
  wordKind,
} from '../json/char-codes.ts'

/** What joins digits to one number. */
const IN_NUMBER: ReadonlySet<number> = new Set([DOT, COMMA])
/** What joins hours to minutes. */
const IN_CLOCK: ReadonlySet<number> = new Set([COLON])
/** The same for times, dates and offsets. */
const IN_TIME: ReadonlySet<number> = new Set([DOT, COMMA, COLON, MINUS, PLUS])
/** Beside letters and digits in a name of a file, a version or a test, and in a path. */
const IN_NAME: ReadonlySet<number> = new Set([DOT, MINUS, SLASH, BACKSLASH])

/** A time, and the end of the date before it: `2026-07-01T12:30`, `10/Oct/2026:12:30`. */
const TIME = /^\d\d:\d\d/
const DATE_END = /(?:\d-\d\dT|\/\d{4}:)$/

/**
 * Whether a cut at `at` would leave a part of a number that reads as another number: `0.` of
 * `0.07`, `1,` of `1,234`, `-` of `-5`.
 */
export function cutsNumber(text: string, at: number): boolean {
  return divides(text, at, IN_NUMBER) || isAfterSign(text, at)
}

/** Whether it would leave a part of a time that reads as another: `10:02` of `00:10:02`. */
export function cutsClock(text: string, at: number): boolean {
  return divides(text, at, IN_CLOCK) && !isBeforeTime(text, at)
}

/**
 * Whether it would divide a number, a word, a name, a path, a URL, the id of a test, or a time
 * anywhere but after its date.
 */
export function cutsName(text: string, at: number): boolean {
  if (isBeforeTime(text, at)) return false
  if (cutsNumber(text, at) || divides(text, at, IN_TIME)) return true
  return cutsPath(text, at) || cutsMember(text, at)
}

/** Between a name and what belongs to it, as in `test_a.py::test_b[1]`. */
const MEMBER = '::'
/** What ends such a name. */
const NOT_IN_MEMBER = /[\s"'`,;()<>=]/

/** Whether `at` is inside a name of several members, with its brackets. */
function cutsMember(text: string, at: number): boolean {
  if (!text.includes(MEMBER)) return false
  let start = at
  while (start > 0 && !NOT_IN_MEMBER.test(text[start - 1]!)) start--
  let end = at
  while (end < text.length && !NOT_IN_MEMBER.test(text[end]!)) end++
  return start < at && at < end && text.slice(start, end).includes(MEMBER)
}

/** Whether `at` is between two digits, or beside what joins them. */
function divides(text: string, at: number, joints: ReadonlySet<number>): boolean {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  if (!isDigit(after)) {
    return isDigit(before) && joints.has(after) && isDigit(text.charCodeAt(at + 1))
  }
  return isDigit(before) || (joints.has(before) && isDigit(text.charCodeAt(at - 2)))
}

function isAfterSign(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  const isSign = before === MINUS || before === PLUS || before === DOT
  return isSign && isDigit(text.charCodeAt(at)) && !isWord(text.charCodeAt(at - 2))
}

/** Whether a time begins at `at`, after its date. */
export function isBeforeTime(text: string, at: number): boolean {
  return TIME.test(text.slice(at, at + 5)) && DATE_END.test(text.slice(Math.max(0, at - 6), at))
}

function cutsPath(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  // A scheme ends before `://`.
  if (before === COLON) return after === SLASH
  if (after === COLON) return isWord(before) && text.charCodeAt(at + 1) === SLASH
  if (!isInName(before) || !isInName(after)) return false
  // `./src/...` is a path, dots and all.
  return !isShare(text, at) && (before === SLASH || !isEndOfSentence(text, at))
}

/** Whether a slash is between two numbers that are no part of a path, as in `3/12`. */
function isShare(text: string, at: number): boolean {
  const slash = text.charCodeAt(at) === SLASH ? at : at - 1
  if (text.charCodeAt(slash) !== SLASH) return false
  let start = slash
  while (isDigit(text.charCodeAt(start - 1))) start--
  let end = slash + 1
  while (isDigit(text.charCodeAt(end))) end++
  const isNumbers = start < slash && end > slash + 1
  return isNumbers && !isInName(text.charCodeAt(start - 1)) && !isInName(text.charCodeAt(end))
}

/** Whether nothing of a name follows after dots from `at` on. */
function isEndOfSentence(text: string, at: number): boolean {
  let end = at
  while (text.charCodeAt(end) === DOT) end++
  return end > at && !isInName(text.charCodeAt(end))
}

function isInName(c: number): boolean {
  return isWord(c) || IN_NAME.has(c)
}

/** Beyond a text's end is NaN, which is neither. */
/** Whether a character is part of a word or a number. */
export function isWord(c: number): boolean {
  return !Number.isNaN(c) && (wordKind(c) & IN_WORD) !== 0
}

function isDigit(c: number): boolean {
  return !Number.isNaN(c) && wordKind(c) === DIGIT
}
