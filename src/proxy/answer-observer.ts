import type { RawHeaders } from './headers.ts'

/**
 * Watches an answer for accounting. It is called after the bytes were passed on, and not again once
 * it has thrown; it must not change the chunks, which may not have left yet.
 */
export interface AnswerObserver {
  head?(status: number, headers: RawHeaders): void
  chunk?(bytes: Uint8Array): void
}

/**
 * The observer made so that it can do no harm: what it throws ends its watching, not the answer.
 */
export function harmless(observer: AnswerObserver | undefined): Required<AnswerObserver> {
  let watching = observer
  function tell(what: (to: AnswerObserver) => void): void {
    if (watching === undefined) return
    try {
      what(watching)
    } catch {
      // That something is missing shows in what it counted.
      watching = undefined
    }
  }
  return {
    head: (status, headers) => tell(to => to.head?.(status, headers)),
    chunk: bytes => tell(to => to.chunk?.(bytes)),
  }
}
