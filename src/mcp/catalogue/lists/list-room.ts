import { createHash } from 'node:crypto'
import type { ListEntry } from '../catalogue.ts'

/** Bytes of all lists that differ. */
const MAX_BYTES = 64 * 1024 * 1024
/** The part of them that one server may take, which might list something else to each client. */
const PART = 1 / 4
/** What an entry takes beside its bytes. */
const ENTRY_BYTES = 200

interface KeptList {
  readonly entries: readonly ListEntry[]
  readonly bytes: number
  readonly server: string
  users: number
}

/** What servers list, for all connections of a service: equal lists are kept once. */
export class ListRoom {
  readonly #maxBytes: number
  readonly #kept = new Map<string, KeptList>()
  readonly #keys = new WeakMap<readonly ListEntry[], string>()
  readonly #bytesOf = new Map<string, number>()
  #bytes = 0

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * The same entries of a server, in buffers that hold nothing else. Each use ends with `leave`.
   * @returns `null` if there is no room
   */
  keep(server: string, entries: readonly ListEntry[]): readonly ListEntry[] | null {
    const key = `${server} ${keyOf(entries)}`
    const known = this.#kept.get(key)
    if (known !== undefined) {
      known.users++
      return known.entries
    }
    const content = entries.reduce((sum, { raw }) => sum + raw.length, 0)
    const bytes = content + ENTRY_BYTES * entries.length
    const own = this.#bytesOf.get(server) ?? 0
    if (this.#bytes + bytes > this.#maxBytes || own + bytes > PART * this.#maxBytes) return null
    const copied = copyOf(entries, content)
    this.#kept.set(key, { entries: copied, bytes, server, users: 1 })
    this.#bytesOf.set(server, own + bytes)
    this.#keys.set(copied, key)
    this.#bytes += bytes
    return copied
  }

  leave(entries: readonly ListEntry[]): void {
    const key = this.#keys.get(entries)
    const kept = key === undefined ? undefined : this.#kept.get(key)
    if (key === undefined || kept === undefined || --kept.users > 0) return
    this.#kept.delete(key)
    this.#bytes -= kept.bytes
    this.#bytesOf.set(kept.server, (this.#bytesOf.get(kept.server) as number) - kept.bytes)
  }
}

function keyOf(entries: readonly ListEntry[]): string {
  const hash = createHash('sha256')
  for (const { key, raw } of entries) hash.update(`${key.length} ${raw.length} ${key}`).update(raw)
  return hash.digest('base64')
}

function copyOf(entries: readonly ListEntry[], bytes: number): readonly ListEntry[] {
  const all = Buffer.allocUnsafeSlow(bytes)
  let at = 0
  return entries.map(({ key, raw }) => {
    const start = at
    at += raw.copy(all, at)
    return { key, raw: all.subarray(start, at) }
  })
}
