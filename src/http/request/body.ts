import type { IncomingMessage } from 'node:http'
import { freeBytes } from '../../core/base/byte-ranges.ts'
import { AppError } from '../../core/base/errors.ts'
import { GrownBytes } from '../../core/base/grown-bytes.ts'
import type { Ticket } from '../../pool/admission.ts'
import { BATCH_LIMITS } from '../../pool/batching.ts'
import type { AppContext } from '../context.ts'
import { requestHeader } from './request-header.ts'

/** The announced length in bytes, or `null` for a chunked body. Throws `payload_too_large`. */
export function announcedLength(c: AppContext, maxBytes: number): number | null {
  const header = requestHeader(c, 'content-length')
  if (header === undefined) return null
  const length = Number(header)
  if (length > maxBytes) throw tooLarge(maxBytes)
  return length
}

/**
 * Reads the request's body once. A body above the copy limit is read into a buffer of its own,
 * which can be transferred to a worker without another copy.
 * @param announced from `announcedLength`
 * @throws AppError `payload_too_large`, `overloaded`, `invalid_request` for a body that breaks off
 */
export function readBody(
  c: AppContext,
  announced: number | null,
  maxBytes: number,
  ticket: Ticket,
): Promise<Uint8Array> {
  const sink = createSink(announced, maxBytes, ticket)
  const incoming = c.env?.incoming
  return incoming === undefined ? readStream(c, sink) : readIncoming(incoming, sink)
}

/** Where the parts of a body go. */
export interface Sink {
  /**
   * Takes all of a part, or throws `AppError` and takes nothing of it.
   * @returns whether it was copied, so that the part itself is not needed any more
   */
  add(chunk: Uint8Array): boolean
  /** All parts so far. */
  taken(): Uint8Array
  end(): Uint8Array
}

/** Collects the chunks of a body. A single chunk is kept without a copy. */
export function createSink(announced: number | null, maxBytes: number, ticket: Ticket): Sink {
  const grown = new GrownBytes(announced ?? maxBytes, announced ?? 0)
  let whole: Uint8Array | null = null

  return {
    add(chunk) {
      const length = (whole?.length ?? grown.length) + chunk.length
      if (length > (announced ?? maxBytes)) throw tooLarge(maxBytes)
      ticket.grow(chunk.length)
      const isWhole = chunk.length === announced && announced <= BATCH_LIMITS.copyBytes
      if (isWhole) whole = chunk
      else grown.add(chunk)
      return !isWhole
    },
    taken: () => whole ?? grown.bytes,
    end() {
      const body = this.taken()
      if (announced !== null && body.length !== announced) throw broken()
      return body
    },
  }
}

/**
 * Reads Node's stream directly, because the Fetch body would cost a second buffer and several
 * promises.
 */
function readIncoming(
  incoming: NonNullable<AppContext['env']['incoming']>,
  sink: Sink,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const settle = (take: () => void) => {
      incoming.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      try {
        take()
      } catch (error) {
        reject(error)
      }
    }
    const onData = (chunk: Uint8Array) => {
      try {
        if (sink.add(chunk)) freeBytes(chunk)
      } catch (error) {
        settle(() => reject(error))
      }
    }
    const onEnd = () => settle(() => resolve(sink.end()))
    const onBroken = () => settle(() => reject(broken()))
    incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

async function readStream(c: AppContext, sink: Sink): Promise<Uint8Array> {
  const stream = c.req.raw.body
  if (stream !== null) for await (const chunk of stream) sink.add(chunk)
  return sink.end()
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `the body is above ${maxBytes} bytes`)
}

function broken(): AppError {
  return new AppError('invalid_request', 'the body broke off')
}

/**
 * Reads a request's body into `sink`. If the sink refuses a part, everything is put back, and the
 * request is paused as if nothing had been read of it. Then the result is what the sink threw.
 * @throws AppError `invalid_request` for a body that breaks off
 */
export function takeBody(
  incoming: IncomingMessage,
  sink: Sink,
): Promise<{ readonly body: Uint8Array } | { readonly refusal: unknown }> {
  return new Promise((resolve, reject) => {
    const detach = () =>
      incoming.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
    const onData = (chunk: Buffer) => {
      try {
        if (sink.add(chunk)) freeBytes(chunk)
      } catch (refusal) {
        detach()
        incoming.pause()
        incoming.unshift(Buffer.concat([sink.taken(), chunk]))
        resolve({ refusal })
      }
    }
    const onEnd = () => {
      detach()
      resolve({ body: sink.taken() })
    }
    const onBroken = () => {
      detach()
      reject(broken())
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}
