import { LINE_FEED } from '../json/char-codes.ts'
import type { PartRange } from './part.ts'
import { type ResolvedRange, resolveRange } from './range.ts'

/** Line feeds in `bytes`. */
export function countLineFeeds(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count++
  return count
}

/** Lines of a body: each ends with a line feed, which belongs to it, or with the body. */
export function countLines(body: Uint8Array): number {
  const unfinished = body.byteLength > 0 && body[body.byteLength - 1] !== LINE_FEED
  return countLineFeeds(body) + (unfinished ? 1 : 0)
}

/** @throws AppError `invalid_request` if the range lies outside */
export function resolveLines(range: PartRange, total: number): ResolvedRange {
  return resolveRange('lines', range, total, 1)
}

/**
 * The lines `first` to `last` of a body, out of `bytes`, whose first byte is in line `line` (at its
 * start if `line` is `first`). A view.
 */
export function cutLines(bytes: Uint8Array, line: number, first: number, last: number): Uint8Array {
  const start = afterLineFeeds(bytes, 0, first - line)
  return bytes.subarray(start, afterLineFeeds(bytes, start, last - first + 1))
}

/** The offset after `count` line feeds from `start`, or the end. */
function afterLineFeeds(bytes: Uint8Array, start: number, count: number): number {
  let at = start
  for (let i = 0; i < count; i++) {
    const feed = bytes.indexOf(LINE_FEED, at)
    if (feed < 0) return bytes.byteLength
    at = feed + 1
  }
  return at
}
