import type { Part, PartRange } from './part.ts'
import { type ResolvedRange, resolveRange } from './range.ts'

/** A range of bytes as it is; it may begin and end inside a character. */
export function selectBytes(body: Uint8Array, range: PartRange): Part {
  const bytes = resolveBytes(range, body.byteLength)
  return { kind: 'bytes', content: body.subarray(bytes.first, bytes.last + 1), ...bytes }
}

/** @throws AppError `invalid_request` where the range lies outside */
export function resolveBytes(range: PartRange, total: number): ResolvedRange {
  return resolveRange('bytes', range, total, 0)
}
