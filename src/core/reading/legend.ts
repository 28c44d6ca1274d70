import type { Construct } from './constructs.ts'

/** A sentence of the legend, and the constructs that it explains. */
interface LegendPart {
  readonly text: string
  readonly explains: readonly Construct[]
}

/**
 * What a model is told of packed results, beside them and never in them: each construct that the
 * level `balanced` uses. At most 100 tokens, since each session of each agent pays for them.
 */
export const LEGEND_PARTS: readonly LegendPart[] = [
  { text: 'Tool results may be packed.', explains: [] },
  {
    text: 'Tables name keys once; "-" is absent.',
    explains: ['json_lines', 'table', 'brackets', 'text_form'],
  },
  { text: 'Under "id=d-*", 7 is d-7.', explains: ['affix', 'affix_number'] },
  { text: 'A{x,y} declares A(1,2).', explains: ['shape'] },
  { text: '"path…" begins the lines below.', explains: ['heading', 'indented_heading'] },
  { text: '"×3": 3 times.', explains: ['times'] },
  { text: 'Rows below A fill "A: GET {1}".', explains: ['template', 'template_switch'] },
  { text: 'Line 1 may name signs.', explains: ['sign'] },
  { text: 'Line numbers count on.', explains: ['numbered'] },
  { text: 'Git heads are short.', explains: ['git_headers'] },
  {
    text: '"> [ref …]", "> [lines 3-9]": those lines.',
    explains: ['reference', 'short_reference'],
  },
]

export const LEGEND = LEGEND_PARTS.map(({ text }) => text).join(' ')
