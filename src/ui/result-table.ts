import { html } from 'hono/html'
import { visible } from '../core/base/visible.ts'
import type { LedgerResult } from '../ledger/figures.ts'
import { type Html, table } from './layout.ts'
import { count, percent, time } from './show.ts'

/** Results with links to their pages. */
export function resultTable(caption: string, results: readonly LedgerResult[]): Html {
  return table({
    caption,
    columns: [
      { name: 'Time (UTC)' },
      { name: 'Tool' },
      { name: 'Shape' },
      { name: 'Format' },
      { name: 'Before', isNumber: true },
      { name: 'After', isNumber: true },
      { name: 'Saved', isNumber: true },
    ],
    rows: results.map(row => [
      html`<a href="/ui/results/${row.id}">${time(row.at)}</a>`,
      visible(row.tool ?? '(not named)'),
      row.shape,
      row.layer === 'L0' ? `reference (${row.format})` : row.format,
      count(row.before),
      count(afterOf(row)),
      percent(row.before - afterOf(row), row.before),
    ]),
    none: 'No result came yet.',
  })
}

/** Tokens that were sent. */
export function afterOf({ before, referred, encoded, omitted }: LedgerResult): number {
  return before - referred - encoded - omitted
}
