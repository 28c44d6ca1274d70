import { BACKSLASH, CARRIAGE_RETURN, COLON, MINUS, PIPE, SPACE, TAB } from '../json/char-codes.ts'

/** Whether the line `[first, end)`, which starts with a pipe, also ends with one. */
export function isPipeRow(text: string, first: number, end: number): boolean {
  const last = lastVisible(text, first, end)
  return last > first && text.charCodeAt(last) === PIPE
}

/** Whether the line is the row under a header: pipes, dashes and colons, with at least one dash. */
export function isDelimiterRow(text: string, first: number, end: number): boolean {
  let dashes = 0
  for (let at = first; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c === MINUS) dashes++
    else if (c !== PIPE && c !== COLON && !isSpace(c)) return false
  }
  return dashes > 0
}

/** Cells of a row that starts and ends with a pipe; `\|` is text. */
export function countTableCells(text: string, first: number, end: number): number {
  const last = lastVisible(text, first, end)
  let cells = 0
  for (let at = first + 1; at <= last; at++) {
    const c = text.charCodeAt(at)
    if (c === BACKSLASH) at++
    else if (c === PIPE) cells++
  }
  return cells
}

function lastVisible(text: string, first: number, end: number): number {
  let last = end - 1
  while (last > first && isSpace(text.charCodeAt(last))) last--
  return last
}

function isSpace(c: number): boolean {
  return c === SPACE || c === TAB || c === CARRIAGE_RETURN
}
