import { randomBytes } from 'node:crypto'
import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { singleLine } from '../../upstream/line-reader.ts'

/** Events of one session. */
const MAX_EVENTS = 256
const MAX_BYTES = 1024 * 1024
/** The last event is kept up to this size, since it may be the answer to a long call. */
const MAX_LAST_BYTES = 16 * 1024 * 1024

/** Bytes that the logs of all sessions may keep. */
export interface LogRoom {
  left: number
}

interface KeptEvent {
  readonly stream: number
  readonly at: number
  readonly chunk: JsonBytes
}

/** A place in a stream: after how many of its events. */
export interface StreamPlace {
  readonly stream: number
  readonly at: number
}

/**
 * The last events of one session, by its streams, so that a client can take up a broken stream.
 * What does not fit is forgotten, the oldest first.
 */
export class EventLog {
  readonly #room: LogRoom
  /** A part of all ids, so that an id of another session is no place in this one. */
  readonly #tag = randomBytes(6).toString('hex')
  readonly #counts = new Map<number, number>()
  #kept: KeptEvent[] = []
  #bytes = 0

  constructor(room: LogRoom) {
    this.#room = room
  }

  /** Keeps a message of a stream. Returns the event. */
  add(stream: number, message: JsonBytes): JsonBytes {
    const at = (this.#counts.get(stream) ?? 0) + 1
    this.#counts.set(stream, at)
    const head = `event: message\nid: ${this.#tag}-${stream}-${at}\ndata: `
    const chunk = Buffer.concat([Buffer.from(head), singleLine(message), END])
    this.#keep({ stream, at, chunk })
    return chunk
  }

  /** An id for the beginning of a stream: an event without a message. */
  first(stream: number): JsonBytes {
    return Buffer.from(`id: ${this.#tag}-${stream}-${this.#counts.get(stream) ?? 0}\ndata: \n\n`)
  }

  /** The place that an id names; `null` if it is none of this session. */
  placeOf(id: string): StreamPlace | null {
    const [, tag, stream, at] = /^(\w+)-(\d{1,15})-(\d{1,15})$/.exec(id) ?? []
    return tag === this.#tag ? { stream: Number(stream), at: Number(at) } : null
  }

  /** What is kept of a stream after a place. */
  after({ stream, at }: StreamPlace): JsonBytes[] {
    return this.#kept.filter(each => each.stream === stream && each.at > at).map(each => each.chunk)
  }

  /** How many events a stream had. */
  countOf(stream: number): number {
    return this.#counts.get(stream) ?? 0
  }

  forget(stream: number): void {
    this.#counts.delete(stream)
    this.#drop(each => each.stream === stream)
  }

  clear(): void {
    this.#drop(() => true)
  }

  #keep(event: KeptEvent): void {
    const { length } = event.chunk
    while (this.#bytes + length > MAX_BYTES || this.#kept.length >= MAX_EVENTS) {
      const oldest = this.#kept.shift()
      if (oldest === undefined) break
      this.#count(-oldest.chunk.length)
    }
    if (length > MAX_LAST_BYTES || length > this.#room.left) return
    this.#kept.push(event)
    this.#count(length)
  }

  #drop(isDropped: (event: KeptEvent) => boolean): void {
    const left: KeptEvent[] = []
    for (const event of this.#kept) {
      if (isDropped(event)) this.#count(-event.chunk.length)
      else left.push(event)
    }
    this.#kept = left
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    this.#room.left -= bytes
  }
}

const END = Buffer.from('\n\n')
