import type { HintFamily } from '../hints/hint.ts'

/** What is wrong with an answer. */
export interface Fault {
  /** Of the hint that is not true; `answer` for the answer's own accounts. */
  readonly family: HintFamily | 'answer'
  readonly reason: string
  /** The hint's line as it was sent. */
  readonly hint?: string
}
