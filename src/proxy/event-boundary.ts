/** A blank line ends an event, whatever the line ends are. */
const CR = 13
const LF = 10

/**
 * Follows a stream of server-sent events, to know whether another event may begin behind what was
 * passed.
 */
export interface EventBoundary {
  follow(chunk: Uint8Array): void
  readonly atBoundary: boolean
}

/** Looks at the last four bytes only, however the stream is cut in chunks. */
export function createEventBoundary(): EventBoundary {
  /** The last bytes, newest in the lowest byte; starts as behind a blank line. */
  let tail = (LF << 8) | LF
  return {
    follow(chunk) {
      for (const byte of chunk.subarray(-4)) tail = (tail << 8) | byte
    },
    get atBoundary() {
      const two = tail & 0xffff
      if (two === ((LF << 8) | LF) || two === ((CR << 8) | CR)) return true
      return tail === ((CR << 24) | (LF << 16) | (CR << 8) | LF)
    },
  }
}
