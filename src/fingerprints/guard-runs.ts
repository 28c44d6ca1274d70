import { UnsafeError } from './guard-thrift.ts'

const MAX_VARINT_BYTES = 5
/** Values of a packed run come in groups of so many. */
const GROUP = 8

/**
 * Walks runs of Parquet's hybrid of run lengths and packed bits without writing them out: a run of a few bytes can announce a billion
 * values, all of which a reader writes.
 * @param bitWidth of a value, at least 1
 * @param values that the runs are for, at most
 * @throws UnsafeError where they have more
 */
export function guardRuns(bytes: Uint8Array, bitWidth: number, values: number): void {
  let at = 0
  let seen = 0

  function header(): number {
    let value = 0
    for (let read = 0; read < MAX_VARINT_BYTES; read += 1) {
      const next = bytes[at]
      if (next === undefined) throw new UnsafeError('has a run that breaks off')
      at += 1
      value += (next & 0x7f) * 2 ** (7 * read)
      if (next < 0x80) return value
    }
    throw new UnsafeError('has a run without end')
  }

  while (at < bytes.length && seen < values) {
    const run = header()
    const length = Math.floor(run / 2)
    if (run % 2 === 1) {
      // Packed: as many as there are bits for, and readers take no more of them than they need.
      seen += length * GROUP
      at += length * bitWidth
    } else {
      if (seen + length > values) throw new UnsafeError('has a run that is longer than its page')
      seen += length
      at += Math.ceil(bitWidth / 8)
    }
  }
}
