import type { Notation } from '../formats/json/json-format.ts'
import type { TextNotation } from '../formats/text/text-format.ts'
import { createNotationLayer } from './format-layer.ts'
import type { Layer } from './layer.ts'
import { createTextLayer } from './text-layer.ts'

/**
 * L1: the one format that is preferred for this endpoint. What the gate refuses goes on to L2.
 * @param id its name without the version
 */
export function createTemplateLayer(
  id: string,
  values: readonly Notation[],
  texts: readonly TextNotation[],
): Layer {
  const preferred = texts.filter(notation => notation.id === id)
  const layer =
    preferred.length > 0
      ? createTextLayer(preferred, values)
      : createNotationLayer(values.filter(notation => notation.id === id))
  return { id: 'L1', propose: input => layer.propose(input) }
}
