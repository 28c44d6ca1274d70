import { html } from 'hono/html'
import { visible } from '../core/base/visible.ts'
import type { FetchedSums, ToolRow, ToolTable } from '../ledger/figures.ts'
import { type Html, table } from './layout.ts'
import { cells, savedOf, toolName } from './overview-page.ts'
import { bytes, count } from './show.ts'
import { HOUR_WINDOWS, type PageWindow, windowLinks } from './window.ts'

const SORTS = {
  sent: (row: ToolRow) => row.before - savedOf(row),
  before: (row: ToolRow) => row.before,
  saved: savedOf,
  results: (row: ToolRow) => row.results,
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

export function toolsPage({ rows, fetched }: ToolTable, query: ToolsQuery): Html {
  const { window, sort, tool } = query
  const wanted = rows
    .filter(row => row.tool.toLowerCase().includes(tool.toLowerCase()))
    .sort((a, b) => SORTS[sort](b) - SORTS[sort](a))
  const shown = wanted.slice(0, SHOWN)
  const rest = wanted.length - shown.length
  return html`${windowLinks(pathOf(query), window, HOUR_WINDOWS)}
<form method="get" action="/ui/tools" class="filter">
<label>Tool <input name="tool" value="${tool}" maxlength="128"></label>
<label>Most <select name="sort">${Object.keys(SORTS).map(
    name =>
      html`<option value="${name}" ${name === sort ? 'selected' : ''}>
${NAMES[name as Sort]}</option>`,
  )}</select></label>
<input type="hidden" name="window" value="${window.name}">
<button>Show</button></form>
${table({
  caption: `Tokens of results in ${window.label}, by tool, shape and format`,
  columns: [
    ...['Tool', 'Shape', 'Format'].map(name => ({ name })),
    ...['Results', 'Before', 'References', 'Formats', 'Left out', 'Saved'].map(name => ({
      name,
      isNumber: true,
    })),
  ],
  rows: shown.map(row => [visible(toolName(row.tool)), row.shape, row.format, ...cells(row)]),
  none: 'No result in this window matches.',
})}
${rest > 0 ? html`<p>${count(rest)} more rows are not shown.</p>` : ''}
${fetchedTable(fetched)}`
}

const NAMES: Readonly<Record<Sort, string>> = {
  sent: 'tokens still sent',
  before: 'tokens before',
  saved: 'tokens saved',
  results: 'results',
}

function pathOf({ sort, tool }: ToolsQuery): string {
  return `/ui/tools?${new URLSearchParams({ sort, tool })}`
}

/** About, for a text whose tokens were not counted. */
const BYTES_PER_TOKEN = 4

function fetchedTable(fetched: readonly FetchedSums[]): Html {
  return html`<h2>Fetched again</h2>${table({
    caption: 'Parts that were left out and then fetched; tokens by an estimate of 4 bytes each',
    columns: [
      { name: 'Tool' },
      ...['Times', 'Size', 'Tokens, about'].map(name => ({ name, isNumber: true })),
    ],
    rows: fetched.map(({ tool, times, bytes: size }) => [
      visible(toolName(tool)),
      count(times),
      bytes(size),
      `≈ ${count(size / BYTES_PER_TOKEN)}`,
    ]),
    none: 'Nothing that was left out was fetched in this window.',
  })}`
}
