import { html } from 'hono/html'
import { change, tokens } from '../book/rows/amounts.ts'
import type { ResultSums, ToolRow, ToolTable } from '../book/rows/figures.ts'
import { addFields } from '../core/base/add-fields.ts'
import { type Html, meter, table } from './layout.ts'
import { plural, toolName } from './result-rows.ts'
import { bytes, count, largest, tone } from './show.ts'
import type { PageWindow } from './window.ts'

const NO_RESULTS = { results: 0, before: 0, referred: 0, encoded: 0, omitted: 0 }

const SORTS = {
  sent: ['tokens still sent', (sums: ResultSums) => sums.before - savedOf(sums)],
  before: ['tokens before', (sums: ResultSums) => sums.before],
  saved: ['tokens saved', savedOf],
  results: ['results', (sums: ResultSums) => sums.results],
} as const

type Sort = keyof typeof SORTS

/** What the URL asks for. */
export interface ToolsQuery {
  readonly window: PageWindow
  readonly sort: Sort
  /** A part of a tool's name; empty: all tools. */
  readonly tool: string
}

export function sortOf(name: string | undefined): Sort {
  return name !== undefined && Object.hasOwn(SORTS, name) ? (name as Sort) : 'sent'
}

const SHOWN = 200

/** A line a tool, with its shapes inside. */
export function toolsPage({ rows, fetched }: ToolTable, { window, sort, tool }: ToolsQuery): Html {
  const by = SORTS[sort][1]
  const byTool = Map.groupBy(rows, each => each.tool)
  const wanted = [...byTool]
    .filter(([name]) => name.toLowerCase().includes(tool.toLowerCase()))
    .map(([name, shapes]) => ({ ...sumOf(shapes), name, shapes }))
    .sort((a, b) => by(b) - by(a))
  const most = largest(wanted, ({ before }) => before)
  const rest = wanted.length - SHOWN
  return html`<form method="get" action="/ui/tools" class="filter">
<label>Tool <input name="tool" value="${tool}" maxlength="128"></label>
<label>Most <select name="sort">${Object.entries(SORTS).map(
    ([name, [text]]) =>
      html`<option value="${name}" ${name === sort ? 'selected' : ''}>${text}</option>`,
  )}</select></label>
<input type="hidden" name="window" value="${window.name}">
<button>Show</button></form>
<section class="card" aria-label="Tools">${
    wanted.length === 0
      ? html`<p class="none">No result in this window matches.</p>`
      : html`<ul class="rows tools">${wanted.slice(0, SHOWN).map(({ name, shapes, ...sums }) => {
          const after = sums.before - savedOf(sums)
          const again = fetched.find(each => each.tool === name)
          return html`<li><details><summary><span class="name">${toolName(name)}
<span class="meta">${plural(sums.results, 'result')}${
            again === undefined
              ? ''
              : `, ${bytes(again.bytes)} fetched again in ${plural(again.times, 'call')}`
          }</span></span>${meter(sums.before, after, most)}
<span class="meta tok">${tokens(sums.before)} → ${tokens(after)}</span>
<span class="num ${tone(savedOf(sums))}">${change(sums.before, after)}</span></summary>
${shapeTable(
  shapes.toSorted((a, b) => by(b) - by(a)),
  name,
)}</details></li>`
        })}</ul>`
  }</section>
${rest > 0 ? html`<p>${plural(rest, 'more tool')}: not shown.</p>` : ''}`
}

function shapeTable(rows: readonly ToolRow[], tool: string): Html {
  return table({
    caption: `Tokens of results of ${toolName(tool)}, by shape and format`,
    columns: [
      ...['Shape', 'Format'].map(name => ({ name })),
      ...['Results', 'Before', 'References', 'Formats', 'Left out', 'Change'].map(name => ({
        name,
        isNumber: true,
      })),
    ],
    rows: rows.map(row => {
      const { shape, format, results, before, referred, encoded, omitted } = row
      const numbers = [results, before, referred, encoded, omitted].map(count)
      return [shape, format, ...numbers, change(before, before - savedOf(row))]
    }),
    none: '',
  })
}

function sumOf(rows: readonly ResultSums[]): ResultSums {
  return rows.reduce(addFields, NO_RESULTS)
}

export function savedOf({ referred, encoded, omitted }: ResultSums): number {
  return referred + encoded + omitted
}
