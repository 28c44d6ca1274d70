import { DIGIT_0, DIGIT_9, MINUS, SPACE, UPPER_T } from '../json/char-codes.ts'

/** How far into a line its time stamp may begin: level and logger names come first in some logs. */
const LOG_STAMP_WITHIN = 40
/** `d` a digit, `s` a space or `T`, anything else itself. */
const TIME_STAMP = 'dddd-dd-ddsdd:dd'

/** Whether `2026-01-31 23:59` (or with `T`) begins near the start of the line `[first, end)`. */
export function hasTimeStamp(text: string, first: number, end: number): boolean {
  const last = Math.min(end - TIME_STAMP.length, first + LOG_STAMP_WITHIN)
  for (let at = first; at <= last; at++) {
    // The two dashes are the rarest part, so they are tried first.
    if (text.charCodeAt(at + 4) !== MINUS || text.charCodeAt(at + 7) !== MINUS) continue
    if (isTimeStamp(text, at)) return true
  }
  return false
}

function isTimeStamp(text: string, at: number): boolean {
  for (let i = 0; i < TIME_STAMP.length; i++) {
    const c = text.charCodeAt(at + i)
    const expected = TIME_STAMP[i]
    const fits =
      expected === 'd'
        ? c >= DIGIT_0 && c <= DIGIT_9
        : expected === 's'
          ? c === SPACE || c === UPPER_T
          : c === TIME_STAMP.charCodeAt(i)
    if (!fits) return false
  }
  return true
}
