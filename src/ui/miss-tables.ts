import { html } from 'hono/html'
import type { MissReason, missRows } from '../book/bill/misses.ts'
import { visible } from '../core/base/visible.ts'
import { type Html, table } from './layout.ts'
import { count, percent } from './show.ts'

type MissRow = ReturnType<typeof missRows>[number]

/** What was cached and not read since the accounts began. */
export interface MissData {
  readonly rows: readonly MissRow[]
  /** The conversations that it cost most. */
  readonly worst: readonly (Pick<MissRow, 'count' | 'tokens' | 'cost'> & {
    readonly conversation: string
    /** What was changed last; absent: the client changed nothing. */
    readonly changed?: { readonly place: string; readonly kind: string }
  })[]
}

const MEANINGS: Readonly<Record<MissReason, string>> = {
  idle: 'a pause longer than the cache lives',
  own: 'Haversack sent another prefix',
  model: 'another model',
  tools: 'other tools, or another order',
  system: 'other instructions',
  first_message: 'another first message',
  settings: 'other thinking, effort or tool_choice',
  history: 'other earlier messages',
  blocks: 'no breakpoint within 20 blocks of what was cached',
  provider: 'nothing of these: the provider forgot',
}

const FIGURES = ['Requests', 'Cached tokens not read', 'More billed']
const COLUMNS = FIGURES.map(name => ({ name, isNumber: true }))

export function missTables({ rows, worst }: MissData): Html {
  if (rows.length === 0) return html`<p>All that was cached was read.</p>`
  const all = rows.reduce((sum, { cost }) => sum + cost, 0)
  const figures = (of: Pick<MissRow, 'count' | 'tokens' | 'cost'>) =>
    [of.count, of.tokens, Math.round(of.cost)].map(count)
  return html`${table({
    caption: 'Misses of prompt caches, each by the first reason that holds',
    columns: [{ name: 'Reason' }, { name: 'Meaning' }, ...COLUMNS, { name: 'Share' }],
    rows: rows.map(row => [
      row.reason,
      MEANINGS[row.reason],
      ...figures(row),
      share(row.cost, all),
    ]),
    none: '',
  })}
${table({
  caption: 'The conversations that misses cost most',
  columns: [{ name: 'Name' }, { name: 'Changed last' }, ...COLUMNS],
  rows: worst.map(each => [
    html`<a href="/ui/conversations/${each.conversation}"><code>${each.conversation}</code></a>`,
    each.changed === undefined ? '–' : visible(`${each.changed.place}: ${each.changed.kind}`),
    ...figures(each),
  ]),
  none: '',
})}`
}

/** A part of the cost as a bar. */
function share(cost: number, all: number): Html {
  const part = all === 0 ? 0 : cost / all
  const text = percent(cost, all)
  return html`<meter value="${part.toFixed(3)}" aria-label="${text}"></meter> ${text}`
}
