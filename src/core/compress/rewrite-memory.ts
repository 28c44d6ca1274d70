import { sessionKey } from '../dedup/index/session-key.ts'
import { attachBodyMemory } from '../dedup/lines/body-memory.ts'
import { unsplit } from '../dedup/lines/scan-text.ts'

/**
 * What was sent for results lately, in memory that all threads share: a request brings all of its conversation again. What
 * is there may be forgotten at any time, oldest first.
 */
export interface RewriteMemory {
  /** The bytes kept under a name, if they are confirmed. */
  get(key: string): Uint8Array | null
  /**
   * Puts bytes there, not to be found before they are confirmed.
   * @param key 64 hex digits that name them for good: other bytes under one name are one of the two
   * @returns what to confirm, `null` where there is no room for that many
   */
  place(key: string, bytes: Uint8Array): number | null
  /** They were sent like that. */
  confirm(position: number): void
}

/** The names are digests over a tenant's name already. */
const ALL = sessionKey('', 'rewrites')

/** @param memory made by `createBodyMemory` */
export function attachRewriteMemory(memory: ArrayBufferLike): RewriteMemory {
  const bodies = attachBodyMemory(memory)
  const { confirm } = bodies
  const place = (key: string, bytes: Uint8Array) => bodies.place(unsplit(bytes), ALL, key, '')
  return {
    get(key) {
      const found = bodies.readBytes(key, ALL)
      if (found === null) return null
      if (bodies.isAging(found.position)) {
        const position = place(key, found.bytes)
        if (position !== null) confirm(position)
      }
      return found.bytes
    },
    place,
    confirm,
  }
}
