import { UnsafeError } from './guard-thrift.ts'

/** Values of a packed run come in groups of so many. */
const GROUP = 8
/** Of the head of a run: readers have 32 bits for it, with a sign. */
const MAX_HEAD = 2 ** 31 - 1

/**
 * Walks runs of Parquet's hybrid of run lengths and packed bits without writing them out: a run of
 * a few bytes can announce a billion values, all of which a reader writes.
 * @param bitWidth of a value
 * @param values that the runs are for, at most
 * @returns how many values there are, up to the one that ends the last run that was needed
 * @throws UnsafeError if they have more, or if readers would take the bytes for other runs
 * than these
 */
export function guardRuns(bytes: Uint8Array, bitWidth: number, values: number): number {
  let at = 0
  let seen = 0

  function head(): number {
    let value = 0
    for (let factor = 1; factor <= MAX_HEAD; factor *= 128) {
      const next = bytes[at]
      if (next === undefined) throw new UnsafeError('has a run that breaks off')
      at += 1
      value += (next & 0x7f) * factor
      if (next < 0x80 && value <= MAX_HEAD) return value
    }
    throw new UnsafeError('has a run without end')
  }

  while (at < bytes.length && seen < values) {
    const run = head()
    const length = Math.floor(run / 2)
    if (run % 2 === 1) {
      seen += length * GROUP
      at += length * bitWidth
      // Readers take a byte of a packed run that has none, and go through all its values.
      const isEmpty = length * bitWidth === 0
      if (isEmpty && (seen < values || length > values)) throw new UnsafeError('has an empty run')
    } else {
      if (seen + length > values) throw new UnsafeError('has a run that is longer than its page')
      seen += length
      at += Math.ceil(bitWidth / 8)
    }
  }
  return seen
}
