import { formatId } from '../formats/notation.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { NOTATIONS } from '../formats/registry.ts'
import { TEXT_NOTATIONS } from '../formats/text/registry.ts'
import type { Layer } from './layer.ts'
import { createNotationLayer } from './notation-layer.ts'
import { createTemplateLayer, type Templates } from './templates.ts'
import { createTextLayer } from './text-layer.ts'

const L2: readonly Layer[] = [
  createNotationLayer(NOTATIONS),
  createTextLayer(TEXT_NOTATIONS, NOTATIONS),
]

/** In order; the first with a candidate that passes the gate ends the way. L3 is what remains. */
export function layersFor(templates: Templates | undefined): readonly Layer[] {
  return templates === undefined ? L2 : [createTemplateLayer(templates), ...L2]
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
