import { createHash } from 'node:crypto'

/** A SHA-256 over texts and bytes, each with its length, so that their borders count. */
export interface Sum {
  add(part: string | Uint8Array): void
  hex(): string
}

export function createSum(): Sum {
  const hash = createHash('sha256')
  return {
    add(part) {
      const bytes = typeof part === 'string' ? Buffer.from(part) : part
      hash.update(`${bytes.length}:`).update(bytes)
    },
    hex: () => hash.digest('hex'),
  }
}
