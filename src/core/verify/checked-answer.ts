import type { EncodeAnswer } from '../contract/encode.ts'
import type { Value } from '../json/value.ts'
import type { Prices } from '../pipeline/prices.ts'
import type { AgentContext, ContentRequest } from './agent-contexts.ts'

/** An answer with all that it is held against. */
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
