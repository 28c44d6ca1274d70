/**
 * Names of the templates of seed 000, and the format of each. Nested answers and diffs inside JSON
 * are both what `tree` writes best: it recurses, and its fences keep a diff as real lines beside
 * its siblings.
 */
export const TEMPLATE_NOTATIONS = {
  csv_from_md: 'md',
  pipeline_deep_mckp: 'tree',
  mr_diff_fence: 'tree',
} as const

export type TemplateId = keyof typeof TEMPLATE_NOTATIONS

/** All ids, in the order of the table. */
export const TEMPLATE_IDS = Object.keys(TEMPLATE_NOTATIONS) as readonly TemplateId[]
