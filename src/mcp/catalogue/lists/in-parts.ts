import { nextTurn, PART_BYTES } from '../../../core/json/bytes/check-large-json.ts'

/** Counts bytes that were looked at, and lets the thread do other work after each part. */
export class Parts {
  #bytes = 0

  /** Whether the thread should do other work now: then `await pause()`. */
  isDue(bytes: number): boolean {
    this.#bytes += bytes
    return this.#bytes > PART_BYTES
  }

  pause(): Promise<void> {
    this.#bytes = 0
    return nextTurn()
  }
}

/** What `make` gives for each entry, in their order. Large lists are gone through in parts. */
export async function mapInParts<T extends { readonly raw: Uint8Array }, R>(
  entries: readonly T[],
  make: (entry: T) => R,
): Promise<R[]> {
  const parts = new Parts()
  const made: R[] = []
  for (const entry of entries) {
    if (parts.isDue(entry.raw.length)) await parts.pause()
    made.push(make(entry))
  }
  return made
}
