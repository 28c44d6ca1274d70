import { Decoder } from '@redis/client/dist/lib/RESP/decoder.js'
import { ReplyMeter } from './reply-meter.ts'

/**
 * Makes the decoder of the Redis client refuse a reply that is too large: it keeps whatever comes
 * until a reply ends, makes room for as many values as a server announces, and has no limit of its
 * own. What it throws ends the connection. The client makes its decoder itself, so that only the
 * class can be changed; all connections of a process have the same bounds.
 */
export function boundReplies(): void {
  if (isBounded) return
  isBounded = true
  const { write, reset } = Decoder.prototype
  const meters = new WeakMap<Decoder, ReplyMeter>()
  Decoder.prototype.write = function (chunk: Uint8Array) {
    let meter = meters.get(this)
    if (meter === undefined) {
      meter = new ReplyMeter()
      meters.set(this, meter)
    }
    meter.add(chunk)
    write.call(this, chunk)
  }
  Decoder.prototype.reset = function () {
    meters.delete(this)
    reset.call(this)
  }
}

let isBounded = false
