import { html } from 'hono/html'
import type { TurnMark } from '../book/bill/turn-marks.ts'
import { change, money, tokens } from '../book/rows/amounts.ts'
import type {
  ConversationDetail,
  ConversationPage,
  ConversationRow,
  LedgerTurn,
} from '../book/rows/figures.ts'
import { visible } from '../core/base/visible.ts'
import { chart } from './chart.ts'
import { card, figures, type Html, meter, tabs } from './layout.ts'
import { afterOf, type OpenResult, plural, resultRows } from './result-rows.ts'
import { count, duration, largest, time, tone } from './show.ts'

/** Conversations of a page. */
export const PAGE_ROWS = 50

/** The money of an uncached input token of a model; `null`: it is not known. */
export type PriceOf = (vendor: string, model: string) => number | null

/** Money by the prices that are in force now. */
export interface Priced {
  readonly priceOf: PriceOf
  readonly currency: string
}

/** @param page from 1 */
export function conversationsPage(
  { rows, total }: ConversationPage,
  page: number,
  priced: Priced,
): Html {
  const pages = Math.max(1, Math.ceil(total / PAGE_ROWS))
  return html`<section class="card" aria-label="Sessions">${sessionRows(rows, priced)}</section>
<nav class="pages" aria-label="Pages of sessions">
${page > 1 ? html`<a href="/ui/conversations?page=${page - 1}" rel="prev">Later</a>` : ''}
<span>${plural(total, 'session')}, page ${page} of ${pages}</span>
${page < pages ? html`<a href="/ui/conversations?page=${page + 1}" rel="next">Earlier</a>` : ''}
</nav>`
}

export function sessionRows(rows: readonly ConversationRow[], priced: Priced): Html {
  if (rows.length === 0) {
    return html`<p class="none">No session came yet. Results without one belong to none.</p>`
  }
  const most = largest(rows, ({ before }) => before)
  return html`<ul class="rows sess">${rows.map(row => {
    const { id, agent, first_at, last_at, before, saved, turns, results } = row
    const about = [
      visible(agent || '(unknown agent)'),
      time(first_at).slice(0, 16),
      ...(last_at - first_at < 60_000 ? [] : [duration(last_at - first_at)]),
    ]
    const [share, text] = savedOf(row, priced)
    return html`<li><a class="name" href="/ui/conversations/${id}">${projectOf(row)}
<span class="meta">${about.join(' · ')}</span></a>${meter(before, before - saved, most)}
<span class="meta tok">${turns === 0 ? plural(results, 'result') : plural(turns, 'request')}</span>
<span class="num">${share}</span>${text}</li>`
  })}</ul>`
}

function projectOf({ project }: ConversationRow): string {
  return visible(project || '(no repository)')
}

/** The change of the bill, else of the results; and what was saved in money, if that is known. */
function savedOf(row: ConversationRow, { priceOf, currency }: Priced): readonly [string, Html] {
  const { turns, without, billed, before, saved, source, model } = row
  const price = turns === 0 ? null : priceOf(source, model)
  const share = turns === 0 ? change(before, before - saved) : change(without, billed)
  if (price === null) return [share, html`<span class="num meta">–</span>`]
  const spared = (without - billed) * price
  return [share, html`<span class="num ${tone(spared)}">${money(spared, currency)}</span>`]
}

const ORDERS = {
  order: ['In order', null],
  saved: ['Most saved', row => row.before - afterOf(row)],
  sent: ['Most still sent', afterOf],
} as const satisfies Record<
  string,
  readonly [string, ((row: Parameters<typeof afterOf>[0]) => number) | null]
>
type Order = keyof typeof ORDERS

/** What the page of a session is made of, beside its rows. */
export interface ConversationView {
  readonly order: Order
  readonly open: OpenResult | null
  readonly marks: readonly TurnMark[]
  readonly priced: Priced
}

export function orderOf(name: string | undefined): Order {
  return name !== undefined && Object.hasOwn(ORDERS, name) ? (name as Order) : 'order'
}

/** The head of the page. @param around the sessions that came later and earlier, if near */
export function conversationHead(
  { conversation: row }: ConversationDetail,
  [later, earlier]: readonly [string | null, string | null],
) {
  const { id, agent, model, turns, results, first_at, last_at, source } = row
  const about = [model || source, plural(turns, 'request'), plural(results, 'tool result'), id]
  return {
    heading: `${projectOf(row)}, ${visible(agent || '(unknown agent)')}`,
    sub: html`${time(first_at).slice(0, 16)} to ${time(last_at).slice(11, 16)} UTC ·
${visible(about.join(' · '))}`,
    aside: html`<nav class="pages" aria-label="Other sessions">
${later === null ? '' : html`<a href="/ui/conversations/${later}" rel="prev">Later</a>`}
${earlier === null ? '' : html`<a href="/ui/conversations/${earlier}" rel="next">Earlier</a>`}
</nav>`,
  }
}

export function conversationPage(detail: ConversationDetail, view: ConversationView): Html {
  const { conversation, turns, results } = detail
  const { order, open } = view
  const path = `/ui/conversations/${conversation.id}`
  const by = ORDERS[order][1]
  const sorted = by === null ? results : results.toSorted((a, b) => by(b) - by(a))
  const names = Object.keys(ORDERS) as Order[]
  const links = names.map(each => [each, `${path}?order=${each}`, ORDERS[each][0]] as const)
  return html`${figures(figuresOf(detail, view))}
${turns.length === 0 ? '' : requests(detail, view)}
${card(
  'results',
  'Tool results',
  resultRows(
    sorted,
    ({ id }, isOpen) => `${path}?order=${order}${isOpen ? '' : `&open=${id}`}#r${id}`,
    open,
  ),
  tabs('Order', order, links),
)}`
}

function figuresOf({ conversation, turns }: ConversationDetail, { priced }: ConversationView) {
  const { before, saved, billed, without, results, source, model } = conversation
  const price = priced.priceOf(source, model)
  const write = (amount: number) =>
    price === null ? tokens(amount) : money(amount * price, priced.currency)
  const full = turns.reduce<LedgerTurn | undefined>(
    (most, turn) => (most === undefined || promptOf(turn) > promptOf(most) ? turn : most),
    undefined,
  )
  const unit = price === null ? `${BILLED_UNIT}, ` : ''
  const both = `${write(without)} → ${write(billed)}`
  return [
    {
      name: 'Bill',
      value:
        price === null || conversation.turns === 0
          ? change(without, billed)
          : money((without - billed) * price, priced.currency),
      about:
        conversation.turns === 0
          ? 'No request of it went through a proxy.'
          : `saved, ${change(without, billed)}: ${both}, ${unit}by what the provider counted`,
      ...(conversation.turns > 0 && { tone: tone(without - billed) }),
    },
    {
      name: 'Tool results',
      value: change(before, before - saved),
      about:
        `${count(before)} → ${count(before - saved)} tokens of ` +
        `${plural(results, 'result')}, each once`,
    },
    {
      name: 'Fullest context',
      value: full === undefined ? '–' : tokens(promptOf(full)),
      about:
        full === undefined
          ? 'No request was seen.'
          : `tokens, at ${time(full.at).slice(11, 16)}; without Haversack ` +
            tokens(promptOf(full) + Math.max(0, full.removed)),
    },
  ]
}

const BILLED_UNIT = 'in uncached input tokens'

function promptOf({ uncached, cache_read, cache_write }: LedgerTurn): number {
  return uncached + cache_read + cache_write
}

function requests(
  { conversation, turns }: ConversationDetail,
  { marks, priced }: ConversationView,
) {
  const { source, model } = conversation
  // Only the latest are listed.
  const first = conversation.turns - turns.length + 1
  const price = priced.priceOf(source, model)
  const costOf = (cost: number) =>
    price === null ? `${tokens(cost)} ${BILLED_UNIT}` : money(cost * price, priced.currency)
  const untouched = turns.filter(turn => turn.untouched !== '').length
  return html`<section class="card" aria-label="Requests">${chart({
    title: 'What each request was billed for',
    unit: 'tokens, as the provider counted them',
    bars: turns.map((turn, index) => ({ label: `${first + index}`, parts: partsOf(turn) })),
    write: tokens,
    marks: marks.map(({ at }) => at),
  })}
${
  marks.length === 0
    ? html`<p class="none">No cache was missed, and the agent did not compact.</p>`
    : html`<ol class="marks">${marks.map(
        mark =>
          html`<li><b>Request ${first + mark.at}</b>, ${time(turns[mark.at]!.at).slice(11, 16)}:
${meaningOf(mark)}${
  mark.tokens === 0
    ? ''
    : html`; ${tokens(mark.tokens)} cached tokens were not read:
<b class="bad">${costOf(mark.cost)}</b>`
}</li>`,
      )}</ol>`
}
${
  untouched === 0 ? '' : html`<p>${plural(untouched, 'listed request')} went unchanged.</p>`
}</section>`
}

function meaningOf({ kind, pause, prompts: [before, now] }: TurnMark): string {
  switch (kind) {
    case 'own':
      return 'Haversack sent another prefix'
    case 'compaction':
      return `compaction by the agent, ${tokens(before)} → ${tokens(now)} tokens`
    case 'idle':
      return `a pause of ${duration(pause)}, so the cache had expired`
    case 'model':
      return 'another model'
    case 'miss':
      return 'the prompt began otherwise, or the provider forgot'
  }
}

function partsOf({ cache_read, cache_write, uncached, output, removed }: LedgerTurn) {
  return [
    { name: 'cache read', kind: 'read', value: cache_read },
    { name: 'cache written', kind: 'written', value: cache_write },
    { name: 'uncached', kind: 'uncached', value: uncached },
    { name: 'output', kind: 'output', value: output },
    { name: 'not sent', kind: 'spared', value: Math.max(0, removed) },
  ]
}
