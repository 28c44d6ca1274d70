import type { IncomingMessage } from 'node:http'
import { broken, type Sink } from './body.ts'

/**
 * Reads a request's body into `sink`. If the sink refuses a part, everything is put back: the
 * request is paused, as if nothing had been read of it, and the result is what the sink threw.
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
        sink.add(chunk)
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
