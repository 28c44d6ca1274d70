import type { RawHeaders } from './headers.ts'

/**
 * Watches an answer for accounting. It is called after the bytes were passed on, and not again once
 * it has thrown; it must not change the chunks, which may not have left yet.
 */
export interface AnswerObserver {
  head?(status: number, headers: RawHeaders): void
  chunk?(bytes: Uint8Array): void
}

/** Wraps the observer, so that an error of it ends its watching and not the answer. */
export function harmless(observer: AnswerObserver | undefined): Required<AnswerObserver> {
  let watching = observer
  function tell(what: (to: AnswerObserver) => void): void {
    if (watching === undefined) return
    try {
      what(watching)
    } catch {
      // The missing part shows in what it counted.
      watching = undefined
    }
  }
  return {
    head: (status, headers) => tell(to => to.head?.(status, headers)),
    chunk: bytes => tell(to => to.chunk?.(bytes)),
  }
}
