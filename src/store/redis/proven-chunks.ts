import { createHash, hash } from 'node:crypto'
import { countLineFeeds } from '../../core/parts/lines.ts'
import { UnreadableError } from '../values/codec.ts'

const HASH_BYTES = 32
/** Chunks whose digests are remembered, of all bodies: 3 MiB of digests, of 6 GiB of content. */
const MAX_CHUNKS = 100_000

/** What is known of a body whose content has its hash. */
export interface ProvenBody {
  /** @throws UnreadableError if a chunk is not the one that was proven */
  check(number: number, content: Uint8Array): void
  /** The line that the first byte of each chunk is in. */
  readonly lines: Uint32Array
}

/**
 * Bodies whose chunks were all read once and had the body's hash. Who can write to a shared store
 * can replace a chunk, and the checksum beside it. So a part is only cut from proven chunks.
 */
export class ProvenBodies {
  readonly #known = new Map<string, ProvenBody & { readonly count: number }>()
  #chunks = 0

  get(name: string): ProvenBody | undefined {
    return this.#known.get(name)
  }

  /** Collects the chunks of a body in their order, to prove it. */
  begin(name: string, count: number): BodyProof {
    const whole = createHash('sha256')
    const digests = Buffer.alloc(count * HASH_BYTES)
    const lines = new Uint32Array(count)
    let line = 1
    return {
      add(number, content) {
        whole.update(content)
        digests.set(hash('sha256', content, 'buffer'), number * HASH_BYTES)
        lines[number] = line
        line += countLineFeeds(content)
      },
      end: expected => {
        if (Buffer.compare(whole.digest(), expected) !== 0) throw new UnreadableError(null)
        const check = (number: number, content: Uint8Array) => {
          const digest = digests.subarray(number * HASH_BYTES, (number + 1) * HASH_BYTES)
          if (digest.compare(hash('sha256', content, 'buffer')) !== 0)
            throw new UnreadableError(null)
        }
        return this.#remember(name, { check, lines, count })
      },
    }
  }

  #remember(name: string, proven: ProvenBody & { readonly count: number }): ProvenBody {
    this.#forget(name)
    this.#known.set(name, proven)
    this.#chunks += proven.count
    for (const oldest of this.#known.keys()) {
      if (this.#chunks <= MAX_CHUNKS || oldest === name) break
      this.#forget(oldest)
    }
    return proven
  }

  #forget(name: string): void {
    this.#chunks -= this.#known.get(name)?.count ?? 0
    this.#known.delete(name)
  }
}

interface BodyProof {
  add(number: number, content: Uint8Array): void
  /** @throws UnreadableError if the content has not this SHA-256 */
  end(expected: Uint8Array): ProvenBody
}
