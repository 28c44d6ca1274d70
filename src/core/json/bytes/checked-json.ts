import type { JsonBytes } from './json-node.ts'

/** A smaller text is read in one go: the slowest content takes some 40 ms for it. */
export const LARGE_BYTES = 1024 * 1024

/** What is known of a large JSON text, by offsets in the memory that it lies in. */
export interface CheckedJson {
  /** The text is no JSON. */
  readonly isFaulty: boolean
  /** Where values end, by where they start. */
  readonly ends: ReadonlyMap<number, number>
  /** Where objects start that have too many members to look for one. */
  readonly wide: ReadonlySet<number>
}

interface KnownJson {
  readonly from: number
  readonly to: number
  readonly checked: CheckedJson
}

const known = new WeakMap<ArrayBufferLike, KnownJson>()

/** What is known of the text or a part of it; `undefined` if it is small, or was not checked. */
export function checkedJson(text: JsonBytes): CheckedJson | undefined {
  const { buffer, byteOffset: from } = text
  if (buffer.byteLength <= LARGE_BYTES) return undefined
  const found = known.get(buffer)
  const isIn = found !== undefined && found.from <= from && from + text.length <= found.to
  return isIn ? found.checked : undefined
}

export function noteChecked(text: JsonBytes, checked: CheckedJson): void {
  const from = text.byteOffset
  known.set(text.buffer, { from, to: from + text.length, checked })
}

/** One JSON text of parts of others, with what is known of them. */
export function joinJson(...parts: readonly JsonBytes[]): JsonBytes {
  const joined = Buffer.concat(parts)
  if (joined.length <= LARGE_BYTES) return joined
  const ends = new Map<number, number>()
  const wide = new Set<number>()
  let at = joined.byteOffset
  for (const part of parts) {
    const first = part.byteOffset
    const checked = checkedJson(part)
    for (const [from, to] of checked?.ends ?? []) {
      if (from < first || to > first + part.length) continue
      ends.set(from - first + at, to - first + at)
      if (checked?.wide.has(from)) wide.add(from - first + at)
    }
    at += part.length
  }
  if (ends.size > 0) noteChecked(joined, { isFaulty: false, ends, wide })
  return joined
}
