import { attempt } from '../base/attempt.ts'
import type { LayerId } from '../contract/encode.ts'
import type { Refusal } from '../contract/result-row.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { formatLabel } from '../formats/text/text-format.ts'
import { type Candidate, costOf, type Layer, type LayerInput, type Proposals } from './layer.ts'

/**
 * The gate in front of every answer. It lets the cheapest candidate pass that decodes to the
 * input's very value. Others are refused, with the reason for the metrics (promises 1 and 2).
 */
export function passGate(proposals: Proposals, refusals: Refusal[]): Candidate | undefined {
  for (const format of proposals.bigger) refusals.push({ format, reason: 'bigger' })
  return proposals.candidates.find(candidate => {
    const reason = isCheapEnough(candidate, proposals) ? fault(candidate) : 'dearer'
    if (reason !== null) refusals.push({ format: candidate.format, reason })
    return reason === null
  })
}

/** Whether its tokens are below the input's, with the price of what its reader must know. */
function isCheapEnough(candidate: Candidate, { baseline }: Proposals): boolean {
  return costOf(candidate) < baseline
}

function fault(candidate: Candidate): Refusal['reason'] | null {
  const prove = () => (candidate.restores() ? null : 'differs')
  return attempt(formatLabel(candidate.format), prove, () => 'failed')
}

/** The text that leaves for a content, with nothing lost. */
export interface Choice {
  readonly content: string
  readonly layer: LayerId
  readonly format: string
  readonly tokens: number
  /** What its reader must know, in tokens; absent: nothing. */
  readonly readingPrice?: number
  /** Whether its lists have a gap in each place where items are missing; absent: they have none. */
  readonly isMarked?: true
  /** Places in it that were escaped because they look like hints; absent: none. */
  readonly lookAlikes?: number
}

/** The first layer's cheapest candidate that passes the gate, or the content itself (L3). */
export function chooseLossless(
  input: LayerInput,
  layers: readonly Layer[],
  refusals: Refusal[],
): Choice {
  for (const layer of layers) {
    const winner = passGate(layer.propose(input), refusals)
    if (winner !== undefined) return { ...winner, layer: layer.id }
  }
  const { content, prices } = input
  return { content, layer: 'L3', format: PASSTHROUGH, tokens: prices.baseline }
}
