import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Outcome } from '../json-rpc.ts'
import type { Clock } from './clock.ts'
import type { CallEnd } from './connection.ts'

/** Servers that report no changes are asked again after this time, in milliseconds. */
const MOST_AGE_MS = 60_000

/** The requests for lists, and which notification outdates each. */
const OUTDATED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'notifications/tools/list_changed'],
  ['prompts/list', 'notifications/prompts/list_changed'],
  ['resources/list', 'notifications/resources/list_changed'],
  ['resources/templates/list', 'notifications/resources/list_changed'],
])

/** Bytes of all pages of one connection, with the requests for them. */
const MAX_BYTES = 16 * 1024 * 1024
/** What a page takes beside its bytes. */
const PAGE_BYTES = 1_000

interface KeptList {
  readonly method: string
  bytes: number
  readonly until: number
  readonly end: Promise<CallEnd>
}

/** Pages of lists that one connection has read, for all clients that share it. */
export class ListMemory {
  readonly #clock: Clock
  readonly #maxBytes: number
  /** By request, the oldest first. */
  readonly #kept = new Map<string, KeptList>()
  #bytes = 0

  constructor(clock: Clock, maxBytes = MAX_BYTES) {
    this.#clock = clock
    this.#maxBytes = maxBytes
  }

  /** What is kept, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  isList(method: string): boolean {
    return OUTDATED_BY.has(method)
  }

  /** The answer in memory, or one that is read now. */
  get(method: string, params: JsonBytes | null, read: () => Promise<CallEnd>): Promise<CallEnd> {
    const key = `${method} ${params?.toString('latin1') ?? ''}`
    const known = this.#kept.get(key)
    if (known !== undefined && this.#clock.now() < known.until) return known.end
    this.#forget(key)
    const end = read()
    const bytes = key.length + PAGE_BYTES
    const kept: KeptList = { method, bytes, until: this.#clock.now() + MOST_AGE_MS, end }
    this.#kept.set(key, kept)
    this.#bytes += bytes
    this.#makeRoom()
    void end.then(answer => {
      if (this.#kept.get(key) !== kept) return
      if (answer.kind !== 'answered') return this.#forget(key)
      const more = heldBy(answer.outcome)
      kept.bytes += more
      this.#bytes += more
      this.#makeRoom()
    })
    return end
  }

  #makeRoom(): void {
    for (const key of this.#kept.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.#forget(key)
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#kept.get(key)?.bytes ?? 0
    this.#kept.delete(key)
  }

  /** @param method of a notification */
  outdate(method: string): void {
    for (const [key, kept] of this.#kept) {
      if (OUTDATED_BY.get(kept.method) === method) this.#forget(key)
    }
  }

  clear(): void {
    this.#kept.clear()
    this.#bytes = 0
  }
}

/** Bytes that an answer keeps: those of the whole message, of which it is a part. */
function heldBy(outcome: Outcome): number {
  return (outcome.kind === 'result' ? outcome.result : outcome.error).buffer.byteLength
}
