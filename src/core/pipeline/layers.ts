import { formatId } from '../formats/notation.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { NOTATIONS } from '../formats/registry.ts'
import { TEXT_NOTATIONS } from '../formats/text/registry.ts'
import { byPrice, type Layer } from './layer.ts'
import { createNotationLayer } from './notation-layer.ts'
import { createTemplateLayer, type Templates } from './templates.ts'
import { createTextLayer } from './text-layer.ts'

/** Both kinds of notations compete by price. */
const L2 = joinLayers(createNotationLayer(NOTATIONS), createTextLayer(TEXT_NOTATIONS, NOTATIONS))

/** In order; the first with a candidate that passes the gate ends the way. L3 is what remains. */
export function layersFor(templates: Templates | undefined): readonly Layer[] {
  return templates === undefined ? [L2] : [createTemplateLayer(templates), L2]
}

/** One layer with the candidates of both, the first one's preferred where two cost the same. */
function joinLayers(first: Layer, second: Layer): Layer {
  return {
    id: first.id,
    propose(input) {
      const a = first.propose(input)
      const b = second.propose(input)
      return {
        candidates: byPrice([...a.candidates, ...b.candidates]),
        bigger: [...a.bigger, ...b.bigger],
        declined: [...a.declined, ...b.declined],
      }
    },
  }
}

/** Names that a request may list under `formats`, in the order of preference. */
export const FORMAT_NAMES: readonly string[] = [
  ...NOTATIONS.map(n => n.id),
  ...TEXT_NOTATIONS.map(n => n.id),
  PASSTHROUGH,
]

/** The same names, and each with its version. */
export const KNOWN_FORMATS: ReadonlySet<string> = new Set([
  ...FORMAT_NAMES,
  ...NOTATIONS.map(formatId),
  ...TEXT_NOTATIONS.map(formatId),
])
