import type { EncodeAnswer } from '../contract/encode.ts'
import type { Done } from '../contract/operation-result.ts'
import { encodeResult } from './encode.ts'
import type { ContentRequest, PipelineContext } from './read-input.ts'
import { type OpenLayer, openSessionLayer } from './session-layer.ts'

/** `encodeResult`, by default in the session that the request names. */
export function encodeContent(
  asked: ContentRequest,
  context: PipelineContext,
  openLayer: OpenLayer = openSessionLayer,
): Done<EncodeAnswer> {
  return encodeResult(asked, context, openLayer)
}
