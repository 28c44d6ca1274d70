import type { OperationContext, Refusal } from '../operations/operation.ts'
import { resolveProfile } from '../profile/resolve.ts'
import type { EncodeRequest, LayerId } from '../requests/encode.ts'
import { passGate } from './gate.ts'
import { layersFor } from './layers.ts'
import { readInput } from './read-input.ts'

/** What became of one candidate. */
export interface Explained {
  readonly layer: LayerId
  readonly format: string
  /** Tokens where it is smaller than the input. */
  readonly tokens: number | null
  /**
   * `sent`; `dearer`: a cheaper one was sent; `declined`: the notation cannot say the input exactly; else the gate's
   * reason, see `Refusal`.
   */
  readonly verdict: 'sent' | 'dearer' | 'declined' | Refusal['reason']
}

/**
 * Every candidate of every layer that was asked, in the order in which they were looked at, by the same steps as
 * `encodeContent`. Notations that do not accept the shape are not listed.
 * @throws AppError `invalid_request` for an unknown tokenizer
 */
export function explainContent(
  request: EncodeRequest & { readonly content: string },
  context: OperationContext,
): readonly Explained[] {
  const input = readInput(request, context)
  const explained: Explained[] = []
  for (const layer of layersFor(resolveProfile(context.pipeline, request))) {
    const proposals = layer.propose(input)
    const refusals: Refusal[] = []
    const winner = passGate(proposals, refusals)
    const reasons = new Map(refusals.map(({ format, reason }) => [format, reason]))
    for (const candidate of proposals.candidates) {
      const { format, tokens } = candidate
      const verdict = candidate === winner ? 'sent' : (reasons.get(format) ?? 'dearer')
      explained.push({ layer: layer.id, format, tokens, verdict })
    }
    for (const format of proposals.bigger) {
      explained.push({ layer: layer.id, format, tokens: null, verdict: 'bigger' })
    }
    for (const format of proposals.declined) {
      explained.push({ layer: layer.id, format, tokens: null, verdict: 'declined' })
    }
    if (winner !== undefined) break
  }
  return explained
}
