import type { EncodeAnswer } from '../contract/encode.ts'
import type { HintFamily } from '../hints/hint.ts'
import type { Value } from '../json/value.ts'
import type { Prices } from '../pipeline/prices.ts'
import type { AgentContext, ContentRequest } from './agent-contexts.ts'

/** A fault of an answer. */
export interface Fault {
  /** The family of the hint that is not true; `answer` for the answer's own accounts. */
  readonly family: HintFamily | 'answer'
  readonly reason: string
  /** The hint's line as it was sent. */
  readonly hint?: string
}

/** An answer with everything that it is compared with. */
export interface CheckedAnswer {
  readonly request: ContentRequest
  readonly answer: EncodeAnswer
  /** SHA-256 of the request's content. */
  readonly identity: string
  /** The request's content, if it is JSON. */
  readonly value: Value | undefined
  /** As it was before this answer. */
  readonly context: AgentContext
  /** In the tokenizer that the request asked for. */
  readonly prices: Prices
}
