/**
 * The sign before a line of a diff, found in UTF-8 bytes: `+`, `-`, or a space before a line that
 * the change leaves as it is. Lines have one inside of hunks of unified diffs, as far as their
 * headers count, and in patches between `*** Begin Patch` and `*** End Patch`.
 */

const PLUS = 0x2b
const MINUS = 0x2d
const SPACE = 0x20
const BACKSLASH = 0x5c
const AT = 0x40
const ASTERISK = 0x2a
const CARRIAGE_RETURN = 0x0d

/** Bytes of a header that are looked at: its counts come first. */
const MAX_HEADER = 64
const HUNK = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/
const BEGIN_PATCH = '*** Begin Patch'
const END_PATCH = '*** End Patch'

/** Tells for each line of a text, asked in their order, whether it has a sign. */
export interface SignScan {
  isSigned(bytes: Uint8Array, start: number, end: number): boolean
}

export function createSignScan(): SignScan {
  /** Lines of the current hunk that are still to come. */
  let old = 0
  let fresh = 0
  let isPatch = false

  function open(bytes: Uint8Array, start: number, end: number): void {
    const head = textOf(bytes, start, Math.min(end, start + MAX_HEADER))
    if (head.startsWith(BEGIN_PATCH)) isPatch = true
    else if (head.startsWith(END_PATCH)) isPatch = false
    const counts = HUNK.exec(head)
    if (counts === null) return
    old = Number(counts[1] ?? 1)
    fresh = Number(counts[2] ?? 1)
  }

  function isInHunk(first: number): boolean {
    // Some tools print a line without a sign for an empty one that stays.
    const isEmpty = first === 0 || first === CARRIAGE_RETURN
    if (first === SPACE || isEmpty) {
      old--
      fresh--
    } else if (first === MINUS) old--
    else if (first === PLUS) fresh--
    else if (first === BACKSLASH) return false
    else {
      old = 0
      fresh = 0
    }
    return isSign(first)
  }

  return {
    isSigned(bytes, start, end) {
      const first = start < end ? bytes[start]! : 0
      const wasOpen = old > 0 || fresh > 0
      if (wasOpen && isInHunk(first)) return true
      if (first === AT || first === ASTERISK) open(bytes, start, end)
      return isPatch && isSign(first)
    },
  }
}

function isSign(byte: number): boolean {
  return byte === SPACE || byte === PLUS || byte === MINUS
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
