import type { OperationContext } from '../operations/operation.ts'
import type { EncodeRequest } from '../requests/encode.ts'
import { classify } from '../shape/classify.ts'
import { resolveTokenizer } from '../tokens/resolve.ts'
import { parseJson } from '../value/parse-json.ts'
import type { LayerInput } from './layer.ts'
import { createPrices } from './prices.ts'

/** A request whose content is at hand. */
export type ContentRequest = EncodeRequest & { readonly content: string }

/** The content parsed, classified and counted: what every layer starts from. */
export function readInput(
  request: ContentRequest,
  context: Pick<OperationContext, 'maxDepth' | 'counters'>,
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
