import { formatId } from '../formats/notation.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { NOTATIONS } from '../formats/registry.ts'
import { TEXT_NOTATIONS } from '../formats/text/registry.ts'
import type { Profile } from '../profile/resolve.ts'
import { byPrice, type Layer } from './layer.ts'
import { createNotationLayer } from './notation-layer.ts'
import { profiledNotations } from './profiled-notations.ts'
import { createTemplateLayer } from './templates.ts'
import { createTextLayer } from './text-layer.ts'

/**
 * In order; the first with a candidate that passes the gate ends the way. L3 is what remains. In L2 both kinds of
 * notations compete by price.
 */
export function layersFor({ encoding, preferred }: Profile): readonly Layer[] {
  const { values, texts } = profiledNotations(encoding)
  const all = joinLayers(createNotationLayer(values), createTextLayer(texts, values))
  return preferred === undefined ? [all] : [createTemplateLayer(preferred, values, texts), all]
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
