/** Bodies concatenated in one buffer. */
export interface PackedRanges {
  readonly body: ArrayBuffer
  /** Offset of each body in `body`; 0 for an absent one. */
  readonly starts: readonly number[]
}

/**
 * Concatenates bodies in one fresh ArrayBuffer. A single body that fills its own buffer
 * and has at least `moveFrom` bytes is taken as it is, without a copy.
 */
export function packRanges(bodies: readonly (Uint8Array | null)[], moveFrom = 0): PackedRanges {
  const [only] = bodies
  if (bodies.length === 1 && only != null && only.length >= moveFrom && ownsBuffer(only)) {
    return { body: only.buffer as ArrayBuffer, starts: [0] }
  }
  const total = bodies.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0)
  const packed = new Uint8Array(total)
  let at = 0
  const starts = bodies.map(bytes => {
    if (bytes === null) return 0
    packed.set(bytes, at)
    at += bytes.length
    return at - bytes.length
  })
  return { body: packed.buffer, starts }
}

/**
 * Whether the view is all of its buffer, so that transferring the buffer takes nothing else with
 * it.
 */
function ownsBuffer(bytes: Uint8Array): boolean {
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength
}

/** Whether the bytes were transferred away. */
export function isDetached(bytes: Uint8Array): boolean {
  return bytes.buffer instanceof ArrayBuffer && bytes.buffer.detached
}

/**
 * Frees the memory of bytes that are not needed any more, if they have a buffer of their own. V8
 * counts buffers, and large ones would make it collect the whole heap every few requests. A view
 * that is used in spite of it is empty, so it can never show other bytes.
 */
export function freeBytes(bytes: Uint8Array): void {
  if (!ownsBuffer(bytes) || bytes.length < LEAST_FREED_BYTES) return
  const buffer = bytes.buffer as ArrayBuffer
  buffer.transfer(0)
}

/** Smaller buffers wait for the collection of young objects. */
const LEAST_FREED_BYTES = 16 * 1024
