import type { LayerId } from '../contract/encode.ts'
import type { Refusal } from '../contract/report.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { passGate } from './gate.ts'
import type { Layer, LayerInput } from './layer.ts'

/** The text that leaves for a content, with nothing lost. */
export interface Choice {
  readonly content: string
  readonly layer: LayerId
  readonly format: string
  readonly tokens: number
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
