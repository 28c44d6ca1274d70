import type { ContentCoding } from '../base/content-coding.ts'

/** What a request comes with beside its body. */
export interface RequestTerms {
  /** Whether its client can fetch kept originals, so that parts may be left out unasked. */
  readonly redeems: boolean
  /** Whether everything is to stay unchanged. */
  readonly bypass: boolean
  /** Whether originals that earlier markers name are missing, and must be kept again. */
  readonly restores?: true
  /** How a body of bytes is compressed, and its largest size without that; absent: it is not. */
  readonly compressed?: { readonly coding: ContentCoding; readonly maxBytes: number }
}
