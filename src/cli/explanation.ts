import type { explain } from '../index.ts'
import { percent, table } from './table.ts'

type Explanation = ReturnType<typeof explain>

/** Rows of a table at most: a value of a thousand objects has as many decisions. */
const MOST_ROWS = 60

/**
 * What the shape is, what became of every candidate, how parts were written, and what a budget
 * leaves out.
 */
export function writeExplanation(explanation: Explanation): string {
  const { shape, inner_formats, tokenizer } = explanation
  const inner = inner_formats.length === 0 ? '' : ` with ${inner_formats.join(', ')}`
  const sections = [
    `${shape}${inner}, tokens in ${tokenizer}`,
    candidatesTable(explanation),
    ...(explanation.parts.length === 0 ? [] : [partsTable(explanation)]),
    ...(explanation.plan === null ? [] : [planText(explanation, explanation.plan)]),
  ]
  return `${sections.join('\n\n')}\n`
}

function candidatesTable({ candidates, baseline, layer, plan }: Explanation): string {
  const best = plan === null ? 'sent' : 'above the budget'
  const rows = candidates.map(({ layer, format, tokens, verdict }) => {
    const saved = tokens === null ? '' : percent(baseline - tokens, baseline)
    return [layer, format, tokens ?? '', saved, verdict === 'sent' ? best : verdict]
  })
  rows.push(['L3', 'passthrough', baseline, '', layer === 'L3' ? best : 'dearer'])
  return table(['layer', 'format', 'tokens', 'saved', 'verdict'], rows)
}

/** Each part below the one that it is in, by its own step of the path. */
function partsTable({ parts, format }: Explanation): string {
  const around: string[] = []
  const rows = parts.slice(0, MOST_ROWS).map(({ path, depth, chosen, tokens, options }) => {
    const step = path.slice(depth === 0 ? 0 : around[depth - 1]!.length)
    around[depth] = path
    const all = options.map(option => `${option.way} ${rounded(option.tokens)}`)
    return ['  '.repeat(depth) + step, chosen, rounded(tokens), all.join(', ')]
  })
  const shown = table([`part of ${format}`, 'chosen', 'tokens', 'of'], rows)
  return shown + moreOf(parts.length, 'parts')
}

function planText({ final, format }: Explanation, plan: NonNullable<Explanation['plan']>): string {
  const { budget_tokens, classes, worth, whole_worth, upper_bound, gap, optimal } = plan
  const proof = optimal ? 'proven best' : `not proven best, gap ${percent(gap, 1)}`
  const facts = [
    ['budget', `${budget_tokens} tokens; the text takes ${final}, in ${format}`],
    ['parts decided on', String(classes)],
    ['worth kept', `${rounded(worth)} of ${rounded(whole_worth)} (${percent(worth, whole_worth)})`],
    ['at most possible', `${rounded(upper_bound)}, ${proof}`],
  ]
  const rows = plan.omissions
    .slice(0, MOST_ROWS)
    .map(({ at, unit, omitted, of }) => [at, omitted, of ?? '', unit])
  return [
    facts.map(([name, fact]) => `${name}: ${fact}`).join('\n'),
    table(['left out at', 'count', 'of', 'what'], rows) + moreOf(plan.omissions.length, 'places'),
  ].join('\n\n')
}

function rounded(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 1 })
}

function moreOf(count: number, what: string): string {
  return count > MOST_ROWS ? `\n… ${count - MOST_ROWS} more ${what}` : ''
}
