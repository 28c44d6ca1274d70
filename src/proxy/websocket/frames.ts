import { randomFillSync } from 'node:crypto'

/** Kinds of frames (RFC 6455 §5.2). */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export const FIN = 0x80
export const MASKED = 0x80
/** Bits of the first byte: only extensions use them, and none are agreed on here. */
export const RESERVED = 0x70
/** Lengths that say that the real one follows in 2 or in 8 bytes. */
export const LENGTH_16 = 126
export const LENGTH_64 = 127
/** The longest payload of a control frame. */
export const MAX_CONTROL_BYTES = 125
export const KEY_BYTES = 4

/** Status codes of close frames (RFC 6455 §7.4.1). */
export const CLOSE_CODES = { going_away: 1001, protocol_error: 1002, internal: 1011 } as const

interface FrameOptions {
  /** Frames of a client are masked, those of a server are not. */
  readonly isMasked: boolean
  /** Whether the message ends with this frame. */
  readonly isLast: boolean
}

const ALONE = { isMasked: false, isLast: true } as const

/** A frame of its own memory; `payload` is copied. */
export function writeFrame(
  opcode: number,
  payload: Uint8Array,
  { isMasked, isLast }: FrameOptions = ALONE,
): Buffer {
  const { length } = payload
  const lengthBytes = length > 0xffff ? 8 : length > MAX_CONTROL_BYTES ? 2 : 0
  const start = 2 + lengthBytes + (isMasked ? KEY_BYTES : 0)
  const frame = Buffer.allocUnsafe(start + length)
  frame[0] = (isLast ? FIN : 0) | opcode
  const shown = lengthBytes === 0 ? length : lengthBytes === 2 ? LENGTH_16 : LENGTH_64
  frame[1] = (isMasked ? MASKED : 0) | shown
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2)
  else if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  frame.set(payload, start)
  if (isMasked) {
    const key = frame.subarray(start - KEY_BYTES, start)
    randomFillSync(key)
    mask(frame.subarray(start), key, 0)
  }
  return frame
}

/** A close frame with a code and its reason. */
export function writeClose(code: number, reason: string, isMasked: boolean): Buffer {
  const text = Buffer.from(reason)
  const payload = Buffer.alloc(2 + text.length)
  payload.writeUInt16BE(code)
  payload.set(text, 2)
  return writeFrame(OPCODES.close, payload, { isMasked, isLast: true })
}

/** The key as it applies to the next word, and the same four bytes as one number. */
const turned = new Uint8Array(KEY_BYTES)
const word = new Uint32Array(turned.buffer)

/**
 * Masks or unmasks bytes in place (RFC 6455 §5.3), four at a time where their place in memory
 * allows it: byte by byte takes five times as long.
 * @param offset of the first byte in the payload of its frame
 */
export function mask(bytes: Uint8Array, key: Uint8Array, offset: number): void {
  const { length } = bytes
  const start = Math.min(length, -bytes.byteOffset & 3)
  const words = (length - start) >>> 2
  const end = start + 4 * words
  for (let at = 0; at < KEY_BYTES; at++) turned[at] = key[(offset + start + at) & 3] as number
  const [four = 0] = word
  const view = new Uint32Array(bytes.buffer, words === 0 ? 0 : bytes.byteOffset + start, words)
  for (let at = 0; at < words; at++) view[at] = (view[at] as number) ^ four
  for (let at = 0; at < start; at++) maskByte(bytes, key, offset, at)
  for (let at = end; at < length; at++) maskByte(bytes, key, offset, at)
}

function maskByte(bytes: Uint8Array, key: Uint8Array, offset: number, at: number): void {
  bytes[at] = (bytes[at] as number) ^ (key[(offset + at) & 3] as number)
}
