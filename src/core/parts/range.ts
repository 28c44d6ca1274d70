import { invalidPart } from './invalid-part.ts'
import type { Part, PartRange } from './part.ts'

/** A range that was fitted to what there is; both ends are included. */
export interface ResolvedRange {
  readonly first: number
  readonly last: number
  readonly total: number
}

const RANGE = /^(?:(\d{1,15})(?:(-)(\d{1,15})?)?|-(\d{1,15}))$/

/**
 * Reads `40-80`, `40-` (to the end), `40` (only that one) or `-20` (the last 20), as in HTTP's
 * Range.
 * @throws AppError `invalid_request`
 */
export function parseRange(name: 'lines' | 'bytes', text: string): PartRange {
  const match = RANGE.exec(text)
  if (match === null) throw invalidPart(name, 'is written 40-80, 40-, 40 or -20 (the last 20)')
  const [, from, dash, to, suffix] = match
  if (suffix !== undefined) {
    if (Number(suffix) === 0) throw invalidPart(name, 'the last 0 are nothing')
    return { suffix: Number(suffix) }
  }
  const first = Number(from)
  const last = dash === undefined ? first : to === undefined ? null : Number(to)
  if (name === 'lines' && first === 0) throw invalidPart(name, 'lines count from 1')
  if (last !== null && last < first) throw invalidPart(name, 'ends before it begins')
  return { first, last }
}

/**
 * Fits a range to `total` lines or bytes, the first of which is number `origin`. A range that is
 * partly outside is clipped. A range that is wholly outside is refused with the total, so that the
 * caller can ask again.
 * @throws AppError `invalid_request`
 */
export function resolveRange(
  name: 'lines' | 'bytes',
  range: PartRange,
  total: number,
  origin: number,
): ResolvedRange {
  const end = origin + total - 1
  const first = 'suffix' in range ? Math.max(origin, end - range.suffix + 1) : range.first
  const last = 'suffix' in range || range.last === null ? end : Math.min(range.last, end)
  if (first > end) {
    const isOne = name === 'lines' && total === 1
    const has = isOne ? 'one line: name a path or a grep' : `${total} ${name}`
    throw invalidPart(name, `the original has ${has}`)
  }
  return { first, last, total }
}

/** A range of bytes as it is; it may begin and end inside a character. */
export function selectBytes(body: Uint8Array, range: PartRange): Part {
  const bytes = resolveBytes(range, body.byteLength)
  return { kind: 'bytes', content: body.subarray(bytes.first, bytes.last + 1), ...bytes }
}

/** @throws AppError `invalid_request` if the range lies outside */
export function resolveBytes(range: PartRange, total: number): ResolvedRange {
  return resolveRange('bytes', range, total, 0)
}
