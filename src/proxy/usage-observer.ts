import type { Transform } from 'node:stream'
import {
  type AnswerForm,
  type AnswerUsage,
  createUsageReader,
  type UsageReader,
} from '../core/conversation/usage/usage-reader.ts'
import type { RouteName } from '../core/dialects/lookup.ts'
import { DECODERS } from './answer-decoder.ts'
import type { AnswerObserver } from './answer-observer.ts'
import { Guard } from './guard.ts'
import type { RawHeaders } from './headers.ts'

/** What was seen of an answer. */
export interface SeenAnswer {
  /** Whether the vendor did what it was asked for: an answer with a status below 300 was begun. */
  readonly isGiven: boolean
  /** The usage that it reports; `null` if it reports none, or could not be read. */
  readonly said: AnswerUsage | null
}

export interface UsageObserver extends Required<AnswerObserver> {
  /** Resolves once the exchange is over. Never rejects. */
  finish(): Promise<SeenAnswer>
}

/** Longest answer that is read, in decoded bytes; figures after that are not found. */
const MAX_READ_BYTES = 32 * 1024 * 1024

/** Answers that are decoded at the same time; each may take some MiB. Others are not read. */
const MAX_DECODING = 128

/** Makes an observer for each answer; they share a bound on what decoding takes. */
export function createUsageObservers(): (route: RouteName) => UsageObserver {
  let decoding = 0

  return route => {
    let isGiven = false
    let reader: UsageReader | null = null
    let decoder: AnswerDecoder | null = null
    let left = MAX_READ_BYTES

    function read(bytes: Uint8Array): void {
      left -= bytes.length
      if (left >= 0) reader?.read(bytes)
      else decoder?.stop()
    }

    function decoded(coding: string): void {
      if (decoding < MAX_DECODING) decoder = createAnswerDecoder(coding, read)
      if (decoder === null) reader = null
      else decoding += 1
    }

    return {
      head(status, headers) {
        isGiven = status >= 200 && status < 300
        const form = isGiven ? formOf(headerOf(headers, 'content-type')) : null
        if (form === null) return
        reader = createUsageReader(route, form)
        const coding = headerOf(headers, 'content-encoding')
        if (coding !== '' && coding !== 'identity') decoded(coding)
      },
      chunk(bytes) {
        if (decoder !== null) decoder.write(bytes)
        else if (reader !== null) read(bytes)
      },
      async finish() {
        if (decoder !== null) {
          await decoder.finish()
          decoding -= 1
        }
        return { isGiven, said: reader?.found ?? null }
      },
    }
  }
}

/** The values of a header as one list, in lower case; empty if there is none. */
function headerOf(headers: RawHeaders, name: string): string {
  const values: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() === name) values.push((headers[at + 1] as string).trim())
  }
  return values.join(', ').toLowerCase()
}

function formOf(contentType: string): AnswerForm | null {
  const [essence = ''] = contentType.split(';', 1)
  if (essence.trim() === 'text/event-stream') return 'events'
  if (essence.trim() === 'application/vnd.amazon.eventstream') return 'frames'
  return essence.trim() === 'application/json' ? 'json' : null
}

/** Undoes the content coding of an answer that is read beside the one that is passed on. */
interface AnswerDecoder {
  write(bytes: Uint8Array): void
  /** Resolves when everything that can be read was read. Never rejects. */
  finish(): Promise<void>
  /** Reads no more. */
  stop(): void
}

/**
 * Waiting to be decoded, in bytes; if the threads that decode do not keep up, the answer is not
 * read.
 */
const MAX_PENDING_BYTES = 1024 * 1024

/**
 * Decodes in Node's own threads, and passes on what is decoded in this one. A wrong coding ends
 * the reading.
 * @param coding the value of `Content-Encoding`, in lower case
 * @returns `null` for a coding that is not known, or several
 */
function createAnswerDecoder(
  coding: string,
  read: (bytes: Uint8Array) => void,
): AnswerDecoder | null {
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
  if (create === undefined) return null
  const closed = Promise.withResolvers<void>()
  let stream: Transform | null = null
  // As with any observer, a missing part shows in what it counted.
  const guard = new Guard(() => stream?.destroy())

  function open(first: number): Transform {
    const opened = (create as (first: number) => Transform)(first)
    guard.on(opened, 'data', read)
    // The close follows.
    guard.on(opened, 'error', () => undefined)
    guard.once(opened, 'close', () => closed.resolve())
    return opened
  }

  return {
    write(bytes) {
      if (bytes.length === 0) return
      stream ??= open(bytes[0] as number)
      if (stream.destroyed || stream.writableEnded) return
      stream.write(bytes)
      if (stream.writableLength > MAX_PENDING_BYTES) stream.destroy()
    },
    finish() {
      if (stream === null) return Promise.resolve()
      if (!stream.destroyed) stream.end()
      return closed.promise
    },
    stop: () => void stream?.destroy(),
  }
}
