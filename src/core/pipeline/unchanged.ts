import type { EncodeAnswer } from '../contract/encode.ts'
import type { Done } from '../contract/operation-result.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import type { LayerInput } from './layer.ts'

/**
 * The content unchanged, while nothing is rewritten. Sessions do not see it, and a budget has no
 * effect: a content that leaves something out would be rewritten too.
 */
export function unchangedAnswer({ content, shape, prices }: LayerInput): Done<EncodeAnswer> {
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
  const tokens = { tokens_in: baseline, tokens_out: baseline }
  const report = { op: 'encode', layer: answer.layer, format: PASSTHROUGH, ...tokens } as const
  return { answer, reports: [{ ...report, shape: answer.shape }] }
}
