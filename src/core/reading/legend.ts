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
  {
    text: 'Packed results: tables name keys once; "-" is absent.',
    explains: ['json_lines', 'table', 'brackets', 'text_form'],
  },
  { text: '"id=d-*": 7=d-7.', explains: ['affix', 'affix_number'] },
  { text: 'A(1,2) fills A{x,y},', explains: ['shape'] },
  { text: 'rows below A fill "A: GET {1}".', explains: ['template', 'template_switch'] },
  { text: '"path…" begins lines below.', explains: ['heading', 'indented_heading'] },
  { text: '"×3": thrice.', explains: ['times'] },
  { text: 'Line 1 may name signs.', explains: ['sign'] },
  { text: 'Line numbers count on.', explains: ['numbered'] },
  { text: 'Git heads are short.', explains: ['git_headers'] },
  {
    text: '"> [ref …]", "> [lines 3-9 +2]": those lines, numbers +2.',
    explains: ['reference', 'short_reference'],
  },
]

export const LEGEND = LEGEND_PARTS.map(({ text }) => text).join(' ')
