/**
 * The bytes `[start, end)` of a piece of UTF-8 text without the halves of characters at its edges,
 * which JSON could not write.
 */
export function wholeCharacters(bytes: Uint8Array): {
  readonly start: number
  readonly end: number
} {
  let start = 0
  while (start < bytes.length && isContinuation(bytes[start] as number)) start++
  let lead = bytes.length - 1
  while (lead >= start && isContinuation(bytes[lead] as number)) lead--
  if (lead < start) return { start, end: start }
  const isWhole = lead + lengthOf(bytes[lead] as number) <= bytes.length
  return { start, end: isWhole ? bytes.length : lead }
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

/** Bytes of the character that begins with this byte. */
function lengthOf(lead: number): number {
  if (lead < 0x80) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}
