import { AppError } from '../errors.ts'
import type { Ticket } from '../pool/admission.ts'
import { BATCH_LIMITS } from '../pool/batching.ts'
import { type AppContext, requestHeader } from './context.ts'

/** The announced length in bytes, or `null` for a chunked body. Throws `payload_too_large`. */
export function announcedLength(c: AppContext, maxBytes: number): number | null {
  const header = requestHeader(c, 'content-length')
  if (header === undefined) return null
  const length = Number(header)
  if (length > maxBytes) throw tooLarge(maxBytes)
  return length
}

/**
 * Reads the request's body once. A body above the copy limit is read into a buffer of its own, which
 * can be transferred to a worker without another copy.
 * @param announced from `announcedLength`; its bytes are already on the ticket
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

interface Sink {
  add(chunk: Uint8Array): void
  end(): Uint8Array
}

function createSink(announced: number | null, maxBytes: number, ticket: Ticket): Sink {
  // Not zero-filled, so an announced length costs no memory before its bytes arrive.
  const own = announced !== null && announced > BATCH_LIMITS.copyBytes
  const whole = own ? Buffer.allocUnsafeSlow(announced) : null
  const chunks: Uint8Array[] = []
  let length = 0
  return {
    add(chunk) {
      if (length + chunk.length > maxBytes) throw tooLarge(maxBytes)
      if (announced === null) ticket.grow(chunk.length)
      if (whole === null) chunks.push(chunk)
      else whole.set(chunk, length)
      length += chunk.length
    },
    end() {
      if (announced !== null && length !== announced) throw broken()
      if (whole !== null) return new Uint8Array(whole.buffer, 0, length)
      const [only] = chunks
      return chunks.length === 1 && only !== undefined ? only : joined(chunks, length)
    },
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/** Straight from Node's stream: the Fetch body would cost a second buffer and several promises. */
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
        sink.add(chunk)
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
