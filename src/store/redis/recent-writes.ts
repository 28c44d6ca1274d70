import type { Argument } from './connection.ts'

/** Functions whose calls are made again on a server that may have lost them. */
export type RedoName =
  | 'put'
  | 'touch'
  | 'write_record'
  | 'delete_record'
  | 'disown_session'
  | 'disown_tenant'

/** A call that the server answered, and what it takes to make it again. */
export interface RecentWrite {
  readonly name: RedoName
  readonly root: string
  /** The session's short name; empty for none. */
  readonly session: string
  /** What must not have changed since, as the function returned it. */
  readonly guard: string
  readonly args: readonly Argument[]
  /** The version of a record that was written, which the next write of it may need. */
  readonly version?: string
  /** Called if another process has written the record since, so that this write is given up. */
  readonly onReplaced?: () => void
  /** Chunks that the call makes a body of, with their keys. */
  readonly staged?: readonly (readonly [key: string, chunk: Uint8Array])[]
}

/** A write with its time, and with the server that is known to have had it. */
export interface KeptWrite {
  readonly write: RecentWrite
  readonly bytes: number
  atMs: number
  server: string
  /** How often it was tried again on the present server. */
  tries: number
}

/** What an entry takes besides its arguments, about. */
const ENTRY_BYTES = 300

/**
 * What this process wrote lately, in the order of the answers. It is all that is left of a write if
 * the primary had sent it to no replica when it was lost.
 */
export class RecentWrites {
  readonly #maxBytes: number
  #kept: KeptWrite[] = []
  #first = 0
  #bytes = 0
  #dropped = 0

  /** @param maxBytes that are kept at most; then the oldest are dropped */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Writes that were dropped because there was no room, before they were known to be safe. */
  get dropped(): number {
    return this.#dropped
  }

  /** @param server which has answered it @param atMs when, of a clock that does not jump */
  add(write: RecentWrite, server: string, atMs: number): void {
    const bytes = sizeOf(write)
    this.#kept.push({ write, bytes, atMs, server, tries: 0 })
    this.#bytes += bytes
    for (; this.#bytes > this.#maxBytes; this.#dropped++) this.#shift()
  }

  /** Forgets what was written before a moment. */
  forget(beforeMs: number): void {
    for (let oldest = this.#oldest; oldest !== undefined && oldest.atMs < beforeMs; ) {
      this.#shift()
      oldest = this.#oldest
    }
  }

  /** Forgets some of them. */
  drop(isDropped: (write: RecentWrite) => boolean): void {
    this.#kept = this.#kept.slice(this.#first).filter(({ write }) => !isDropped(write))
    this.#first = 0
    this.#bytes = this.#kept.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** What another server than this one has answered, the oldest first. */
  notOn(server: string): readonly KeptWrite[] {
    return this.#kept.slice(this.#first).filter(each => each.server !== server)
  }

  get #oldest(): KeptWrite | undefined {
    return this.#kept[this.#first]
  }

  #shift(): void {
    this.#bytes -= this.#kept[this.#first]!.bytes
    this.#first++
    if (this.#first * 2 < this.#kept.length) return
    this.#kept = this.#kept.slice(this.#first)
    this.#first = 0
  }
}

function sizeOf({ args, staged = [] }: RecentWrite): number {
  const own = args.reduce((sum, each) => sum + each.length, ENTRY_BYTES)
  return staged.reduce((sum, [key, chunk]) => sum + key.length + chunk.byteLength, own)
}
