import type { EncodeAnswer } from '../contract/encode.ts'
import type { Done } from '../contract/operation-result.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import type { LayerInput } from './layer.ts'
import { reportOf } from './report-of.ts'

/**
 * The content unchanged, while nothing is rewritten. Sessions do not see it, and a budget has no
 * effect: a content that leaves something out would be rewritten too.
 */
export function unchangedAnswer(input: LayerInput): Done<EncodeAnswer> {
  const { content, shape, prices } = input
  const { counter, baseline } = prices
  const bytes = Buffer.byteLength(content)
  const answer: EncodeAnswer = {
    content,
    layer: 'L3',
    format: PASSTHROUGH,
    shape: shape.shape,
    inner_formats: [...shape.inner_formats],
    tokens: { tokenizer: counter.id, exact: counter.exact, baseline, final: baseline },
    lossless: true,
    hints: [],
    elided: [],
    savings: { dedup_tokens: 0, encoder_tokens: 0, elided_tokens: 0 },
    bytes: { raw: bytes, output: bytes },
    compression_ratio: 1,
    truncated: false,
    partition: 0,
  }
  return { answer, reports: [{ ...reportOf(input, answer, null), only: 'metrics' }] }
}
