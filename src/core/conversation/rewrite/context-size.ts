import type { ByteRange, ScannedRequest } from '../parse/scan-request.ts'

/** Bytes of JSON for a token. An estimate: levels need none that is exact. */
const BYTES_A_TOKEN = 4

/** Shorter strings are no images. */
const MIN_IMAGE_BYTES = 1024

/** Where an image's bytes begin in the messages of any vendor. */
const IMAGE_HEADS = ['"data":"', ';base64,'].map(text => Buffer.from(text))

const QUOTE = 0x22

/**
 * How much of a conversation comes before a result, as it is sent. It depends on the messages
 * before the result alone, and not on what follows, so that a later turn finds the same size.
 */
export class ContextSize {
  readonly #body: ScannedRequest['body']
  readonly #start: number
  #saved = 0
  /** Bytes of images up to `#seen`, which cost other tokens than text. */
  #images = 0
  #seen: number

  constructor({ body, messages }: Pick<ScannedRequest, 'body' | 'messages'>) {
    this.#body = body
    this.#start = messages[0]?.start ?? 0
    this.#seen = this.#start
  }

  /** Notes that an earlier result is sent with so many bytes instead. */
  replaced(before: number, after: number): void {
    this.#saved += before - after
  }

  /** Results must be asked for in their order. */
  tokensBefore({ start }: ByteRange): number {
    this.#skipImages(start)
    const bytes = start - this.#start - this.#saved - this.#images
    return Math.max(0, Math.ceil(bytes / BYTES_A_TOKEN))
  }

  #skipImages(end: number): void {
    const part = this.#body.subarray(this.#seen, end)
    for (const head of IMAGE_HEADS) {
      for (let at = part.indexOf(head); at !== -1; at = part.indexOf(head, at)) {
        const first = at + head.length
        const close = part.indexOf(QUOTE, first)
        at = close === -1 ? part.length : close
        if (at - first >= MIN_IMAGE_BYTES) this.#images += at - first
      }
    }
    this.#seen = end
  }
}
