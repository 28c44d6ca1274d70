/** A text as it is kept. */
export interface TextBytes {
  readonly bytes: Uint8Array
  readonly media_type: string
}

/** Media types of kept texts. The second is for texts with lone surrogates, which UTF-8 cannot say. */
export const TEXT_TYPES = {
  utf8: 'text/plain; charset=utf-8',
  utf16: 'text/plain; charset=utf-16le',
} as const

const encoder = new TextEncoder()
// A byte order mark is part of the text.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** UTF-8 where that can be turned back. */
export function toBytes(text: string): TextBytes {
  return text.isWellFormed()
    ? { bytes: encoder.encode(text), media_type: TEXT_TYPES.utf8 }
    : { bytes: new Uint8Array(Buffer.from(text, 'utf16le')), media_type: TEXT_TYPES.utf16 }
}

/** The very text that `toBytes` was given. */
export function toText({ bytes, media_type }: TextBytes): string {
  if (media_type !== TEXT_TYPES.utf16) return decoder.decode(bytes)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf16le')
}
