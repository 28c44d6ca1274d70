import type { PipelineConfig } from '../src/core/pipeline/profile/pipeline-config.ts'
import type { WorkerSetup } from './protocol.ts'

/** Bytes of JSON whose configurations a thread has at hand; as objects they take ten times that. */
const MAX_BYTES = 512 * 1024

interface Known {
  readonly pipeline: PipelineConfig
  readonly bytes: number
}

/** The configurations that a thread was given. Those that were not used for long are dropped. */
export class Generations {
  readonly #first: Pick<WorkerSetup, 'pipeline' | 'generation'>
  /** The most recently used last. */
  readonly #known = new Map<string, Known>()
  #bytes = 0

  /** @param first the configuration that the thread was started with, which stays */
  constructor(first: Pick<WorkerSetup, 'pipeline' | 'generation'>) {
    this.#first = first
  }

  /** Reads what it does not have. */
  learn(generations: Readonly<Record<string, SharedArrayBuffer>> = {}): void {
    for (const [id, shared] of Object.entries(generations)) {
      if (this.find(id) !== null) continue
      // Text cannot be decoded from shared memory.
      const text = Buffer.from(new Uint8Array(shared)).toString('utf8')
      const bytes = shared.byteLength
      this.#known.set(id, { pipeline: JSON.parse(text) as PipelineConfig, bytes })
      this.#bytes += bytes
    }
    for (const [id, { bytes }] of this.#known) {
      if (this.#bytes <= MAX_BYTES || Object.hasOwn(generations, id)) return
      this.#known.delete(id)
      this.#bytes -= bytes
    }
  }

  /** @param id absent: that of the start */
  find(id: string | undefined): PipelineConfig | null {
    if (id === undefined || id === this.#first.generation) return this.#first.pipeline
    const known = this.#known.get(id)
    if (known === undefined) return null
    this.#known.delete(id)
    this.#known.set(id, known)
    return known.pipeline
  }
}
