import { NOTATIONS } from '../formats/registry.ts'
import { TEXT_NOTATIONS } from '../formats/text/registry.ts'
import type { Layer } from './layer.ts'
import { createNotationLayer } from './notation-layer.ts'
import { createTextLayer } from './text-layer.ts'

/**
 * Names of the templates of seed 000, and the notation that each stands for. Nested answers and diffs inside JSON are
 * both what `tree` writes best: it recurses, and its fences keep a diff as real lines beside its siblings.
 */
const TEMPLATE_NOTATIONS = {
  csv_from_md: 'md',
  pipeline_deep_mckp: 'tree',
  mr_diff_fence: 'tree',
} as const

export type TemplateId = keyof typeof TEMPLATE_NOTATIONS

/** Which template an endpoint, named by its tool, gets. Tuning writes it; without an entry L1 does nothing. */
export type Templates = ReadonlyMap<string, TemplateId>

/** L1: the one notation that was chosen for this endpoint. What the gate refuses goes on to L2. */
export function createTemplateLayer(templates: Templates): Layer {
  return {
    id: 'L1',
    propose(input) {
      const { tool } = input.request
      const template = tool === undefined ? undefined : templates.get(tool)
      const id = template === undefined ? undefined : TEMPLATE_NOTATIONS[template]
      const texts = TEXT_NOTATIONS.filter(notation => notation.id === id)
      const layer =
        texts.length > 0
          ? createTextLayer(texts, NOTATIONS)
          : createNotationLayer(NOTATIONS.filter(notation => notation.id === id))
      return layer.propose(input)
    },
  }
}
