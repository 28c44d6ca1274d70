/** Types of Thrift's compact protocol, in fields and lists. */
const STOP = 0
const TRUE = 1
const FALSE = 2
const BYTE = 3
const I16 = 4
const I64 = 6
const DOUBLE = 7
const BINARY = 8
const LIST = 9
const STRUCT = 12

/** Deeper than any header or footer of Parquet. */
const MAX_DEPTH = 16
/** Lists have their length in four bits, or this and a number after it. */
const LONG_LIST = 15
const DOUBLE_BYTES = 8
const MAX_VARINT_BYTES = 10

/** Bytes that must not be given to a reader. */
export class UnsafeError extends Error {}

/**
 * Reads a struct in Thrift's compact protocol without building objects. A reader that parses it
 * afterwards needs memory for the values that are there, and not for those that are announced.
 * @param end where the struct must have ended
 * @returns where it ends
 * @throws UnsafeError if it has lists or texts beyond `end`, or is nested too deeply
 */
export function guardThrift(bytes: Uint8Array, start: number, end: number): number {
  let at = start

  function byte(): number {
    const next = at < end ? bytes[at] : undefined
    if (next === undefined) throw new UnsafeError('ends in the middle')
    at += 1
    return next
  }

  function varint(): number {
    let value = 0
    for (let read = 0; read < MAX_VARINT_BYTES; read += 1) {
      const next = byte()
      value += (next & 0x7f) * 2 ** (7 * read)
      if (next < 0x80) return value
    }
    throw new UnsafeError('has a number that does not end')
  }

  function skip(count: number): void {
    if (count > end - at) throw new UnsafeError('ends in the middle')
    at += count
  }

  function element(type: number, depth: number): void {
    if (type === BYTE) skip(1)
    else if (type >= I16 && type <= I64) varint()
    else if (type === DOUBLE) skip(DOUBLE_BYTES)
    else if (type === BINARY) skip(varint())
    else if (type === LIST) list(depth)
    else if (type === STRUCT) struct(depth + 1)
    else throw new UnsafeError(`has a field of type ${type}`)
  }

  function list(depth: number): void {
    const head = byte()
    const short = head >> 4
    const count = short === LONG_LIST ? varint() : short
    const type = head & 0x0f
    // Each element takes at least a byte.
    if (count > end - at) throw new UnsafeError('has a list that is longer than it')
    for (let index = 0; index < count; index += 1) {
      element(type === TRUE || type === FALSE ? BYTE : type, depth + 1)
    }
  }

  function struct(depth: number): void {
    if (depth > MAX_DEPTH) throw new UnsafeError('is nested too deeply')
    for (;;) {
      const head = byte()
      const type = head & 0x0f
      if (type === STOP) return
      if (head >> 4 === 0) varint()
      if (type !== TRUE && type !== FALSE) element(type, depth)
    }
  }

  struct(0)
  return at
}
