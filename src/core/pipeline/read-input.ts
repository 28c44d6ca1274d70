import { classify } from '../classify/classify.ts'
import type { EncodeRequest } from '../contract/encode.ts'
import { parseJson } from '../json/parse-json.ts'
import { resolveTokenizer } from '../tokens/resolve.ts'
import type { LayerInput } from './layer.ts'
import type { PipelineContext } from './pipeline-context.ts'
import { createPrices } from './prices.ts'

/** A request whose content is at hand. */
export type ContentRequest = EncodeRequest & { readonly content: string }

/** The content parsed, classified and counted: what every layer starts from. */
export function readInput(
  request: ContentRequest,
  context: Pick<PipelineContext, 'maxDepth' | 'counters'>,
): LayerInput {
  const { content } = request
  const parsed = parseJson(content, { maxDepth: context.maxDepth })
  const value = parsed.ok ? parsed.value : undefined
  return {
    request,
    content,
    value,
    shape: classify(content, value),
    prices: createPrices(content, resolveTokenizer(request), context.counters),
  }
}
