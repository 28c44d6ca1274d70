import type { EncodeAnswer } from '../contract/encode.ts'
import type { Report } from '../contract/operation-result.ts'
import type { Refusal } from '../contract/result-row.ts'
import { hostBlocks } from '../formats/host-blocks.ts'
import { formatLabel } from '../formats/text/text-format.ts'
import { resultRow } from '../telemetry/result-row.ts'
import type { LayerInput } from './layer.ts'
import type { SessionLayer } from './session-layer.ts'
import { bareFormat } from './wrapped-format.ts'

/** The account of a result. */
export function reportOf(
  { request: call, content, shape }: LayerInput,
  answer: EncodeAnswer,
  layer: SessionLayer | null,
  refusals: readonly Refusal[] = [],
): Report {
  const { look_alikes, format } = answer
  return {
    op: 'encode',
    row: () =>
      resultRow(
        { call, content, identity: layer?.identity, shape },
        { ...answer, format: bareFormat(format) },
        refusals.map(each => ({ ...each, format: formatLabel(each.format) })),
      ),
    texts: { before: content, after: answer.content, format },
    ...(look_alikes === undefined ? {} : { look_alikes }),
  }
}

/** What the host says in the result. */
export function hostBlocksIn({ content, prices }: LayerInput): Pick<Report, 'host_blocks'> {
  const found = hostBlocks(content)
  if (found.length === 0) return {}
  const tokens = found.reduce((sum, { text }) => sum + prices.counter.count(text), 0)
  return { host_blocks: { blocks: found.length, tokens } }
}
