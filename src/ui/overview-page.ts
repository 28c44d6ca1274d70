import { html } from 'hono/html'
import type { BudgetState } from '../book/bill/budgets.ts'
import type { DefinitionsAccount } from '../book/bill/definitions-account.ts'
import { type LifeAccount, netOf } from '../book/bill/life-account.ts'
import { change, grouped, isoDay, money, shortDay, tokens } from '../book/rows/amounts.ts'
import { dayOf } from '../book/rows/day-of.ts'
import type { ConversationPage, LedgerResult, Overview } from '../book/rows/figures.ts'
import { type By, type GainFigures, type Part, withRest } from '../book/rows/gain-figures.ts'
import { visible } from '../core/base/visible.ts'
import { type Bar, chart } from './chart.ts'
import { type Priced, sessionRows } from './conversation-pages.ts'
import { card, type Figure, figures, type Html, meter, table, tabs } from './layout.ts'
import { missTables } from './miss-tables.ts'
import { type AccountData, moreToSave } from './more-to-save.ts'
import { reasonOf } from './reasons.ts'
import { type Kept, sides } from './result-page.ts'
import { plural, resultRows, toolName } from './result-rows.ts'
import { count, largest, percent, time, tone } from './show.ts'
import { savedOf } from './tools-page.ts'
import type { PageWindow } from './window.ts'

export interface OverviewData {
  readonly window: PageWindow
  /** What the day sums say in the window. */
  readonly gain: GainFigures
  readonly by: Where
  /** Whose figures they are: a tenant, or `*` for all. */
  readonly of: string
  /** Whether the reader may see all tenants. */
  readonly readsAll: boolean
  readonly budgets: readonly BudgetState[]
  /** `null` if the store is away. */
  readonly accounts: AccountData | null
  readonly priced: Priced
  /** What is shown to its own tenant only; `null`: the reader is of another. */
  readonly own: OwnData | null
}

interface OwnData {
  /** What the hours say; they are kept for a week. */
  readonly overview: Overview
  readonly latest: readonly LedgerResult[]
  readonly sessions: ConversationPage
  /** One of the results with both sides; `null`: none is kept. */
  readonly one: { readonly result: LedgerResult; readonly kept: Kept } | null
}

/** What the figures are shown by; teams for those who may see all. */
export const WHERE = [
  'project',
  'agent',
  'model',
  'tool',
  'way',
  'team',
] as const satisfies readonly By[]
export type Where = (typeof WHERE)[number]

/** The path of an overview, without its window. */
export function overviewPath({ by, of }: Pick<OverviewData, 'by' | 'of'>): string {
  return `/ui?${new URLSearchParams({ tenant: of, by })}`
}

export function overviewPage(data: OverviewData): Html {
  const { window, gain, accounts, own, priced } = data
  return html`<section class="card hero" aria-label="The bill"><div>${figures(trio(gain))}
${budgetLines(data)}</div>
${window.days === 1 && own !== null ? billByHour(own.overview, gain) : billByDay(gain)}</section>
<div class="two">${where(data)}
${moreToSave(gain, accounts)}</div>
${own === null ? '' : ownParts(own, priced)}
<details class="card"><summary><h2>What stayed unchanged, caches, and definitions of tools</h2>
</summary>${own === null ? '' : unsaved(own.overview)}
${accounts === null ? noAccounts() : ofCaches(accounts)}</details>`
}

function ownParts({ one, sessions, latest }: OwnData, priced: Priced): Html {
  const all = html`<a href="/ui/conversations">All ${grouped(sessions.total)}</a>`
  return html`${oneResult(one)}
${card('sessions', 'Latest sessions', sessionRows(sessions.rows, priced), all)}
${card(
  'latest',
  'Latest results',
  resultRows(latest, ({ id }) => `/ui/results/${id}`),
)}`
}

/** Marks of budgets; they block nothing. */
function budgetLines({ budgets, priced: { currency }, of }: OverviewData): Html {
  return html`${budgets.map(({ tenant, of: period, amount, spent }) => {
    const kind = spent >= amount ? 'bad' : spent >= 0.8 * amount ? 'near' : ''
    const whose = of === '*' ? `${visible(tenant)}, ` : ''
    return html`<p class="budget ${kind}">Budget, ${whose}${period}: ${money(spent, currency)} of
${money(amount, currency)} (${percent(spent, amount)})</p>`
  })}`
}

/** The three figures that matter. */
function trio({ total, currency }: GainFigures): readonly Figure[] {
  const { results, before, after, omitted, fetched, prefix_changes: broken } = total
  const left =
    omitted === 0
      ? 'Every result decodes to its original.'
      : `${tokens(omitted)} tokens left out, to be fetched back; fetched ${grouped(fetched)} times.`
  const caches = broken === 1 ? 'cache' : 'caches'
  return [
    savedFigure(total, currency),
    {
      name: 'Tool results',
      value: change(before, after),
      about: `${tokens(before)} → ${tokens(after)} tokens, each of ${plural(results, 'result')} once`,
      ...(after > before && { tone: 'bad' as const }),
    },
    {
      name: 'Lost',
      value: broken === 0 ? '0' : `−${grouped(broken)}`,
      about: `${grouped(broken)} ${caches} broken by a change of ours. ${left}`,
      ...(broken > 0 && { tone: 'bad' as const }),
    },
  ]
}

function savedFigure({ bill, money: priced, requests }: Part, currency: string | null): Figure {
  const name = 'Saved'
  const asked = plural(requests, 'request')
  if (priced !== null && currency !== null) {
    const saved = priced.without - priced.billed
    const sums = `${money(priced.without, currency)} → ${money(priced.billed, currency)}`
    const share = html`<b class="${tone(saved)}">${change(priced.without, priced.billed)}</b>`
    const about = html`${share} of the bill: ${sums}, ${asked}`
    return { name, value: money(saved, currency), about, tone: tone(saved) }
  }
  if (bill === null) {
    return { name, value: '–', about: 'No bill is known: hooks, MCP and encode see none.' }
  }
  const about = `of the bill: ${tokens(bill.without)} → ${tokens(bill.billed)} ${BILLED_UNIT}, ${asked}`
  const value = change(bill.without, bill.billed)
  return { name, value, about, tone: tone(bill.without - bill.billed) }
}

/** The bill of each day, in money if prices are known; else the tokens of results. */
function billByDay({ by, from, to, currency }: GainFigures): Html {
  const days = new Map(by.day.map(part => [part.name, part]))
  const first = by.day[0]?.name ?? ''
  const all = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const shown = all.filter(day => isoDay(day) >= first)
  const hasBill = by.day.some(({ bill }) => bill !== null)
  const isPriced = currency !== null && by.day.some(part => part.money !== null)
  const bars = shown.map(day => {
    const part = days.get(isoDay(day))
    const bill = isPriced ? part?.money : part?.bill
    const of = hasBill ? bill : part && { without: part.before, billed: part.after }
    return billBar(shortDay(day), of ?? { without: 0, billed: 0 })
  })
  return chart({
    title: hasBill ? 'The bill by day' : 'Tool results by day',
    unit: isPriced ? 'at the prices of the vendors' : hasBill ? BILLED_UNIT : 'tokens',
    bars,
    write: isPriced ? amount => money(amount, currency) : tokens,
  })
}

/** Only the hours of today, like the figures beside it: those that are read go back a whole day. */
function billByHour({ buckets }: Overview, { to, total }: GainFigures): Html {
  const hasBill = total.bill !== null
  const today = buckets.filter(({ at }) => dayOf(at) === to)
  const bars = today.map(bucket => {
    const after = bucket.before - savedOf(bucket)
    const of = hasBill ? bucket : { without: bucket.before, billed: after }
    return billBar(time(bucket.at).slice(11, 16), of)
  })
  const title = hasBill ? 'The bill by hour, UTC' : 'Tool results by hour, UTC'
  return chart({ title, unit: hasBill ? BILLED_UNIT : 'tokens', bars, write: tokens })
}

function billBar(label: string, { without, billed }: { without: number; billed: number }): Bar {
  const saved = without - billed
  return {
    label,
    parts: [
      { name: 'paid', kind: 'paid', value: Math.min(billed, without) },
      { name: 'saved', kind: 'good', value: Math.max(0, saved) },
      { name: 'lost', kind: 'bad', value: Math.max(0, -saved) },
    ],
  }
}

/** Parts of which a name is shown each; the rest is one. */
const MOST_PARTS = 8
const NAMES: Readonly<Record<Where, string>> = {
  project: '(no repository)',
  agent: '(unknown)',
  model: '(no model)',
  tool: '(rest of the prompt)',
  way: '(unknown)',
  team: '(unknown)',
}

function where(data: OverviewData): Html {
  const { gain, by: chosen, window, readsAll } = data
  const shown = WHERE.filter(each => each !== 'team' || readsAll)
  // A list of teams is of all of them.
  const to = (by: Where, of: string) => `${overviewPath({ by, of })}&window=${window.name}`
  const links = shown.map(by => [by, to(by, by === 'team' ? '*' : data.of), by] as const)
  const parts = withRest(gain.by[chosen], MOST_PARTS)
  const most = largest(parts, ({ before }) => before)
  const rows = parts.map(part => {
    const { name, before, after } = part
    const isLink = chosen === 'team' && gain.by.team.some(each => each.name === name)
    const text = visible(name || NAMES[chosen])
    return html`<li>${
      isLink
        ? html`<a class="name" href="${to('project', name)}">${text}</a>`
        : html`<span class="name">${text}</span>`
    }${meter(before, after, most)}
<span class="meta tok">${tokens(before)} → ${tokens(after)}</span>
<span class="num">${change(before, after)}</span>${savedCell(part, gain.currency)}</li>`
  })
  const list =
    rows.length === 0
      ? html`<p class="none">Nothing came in this window.</p>`
      : html`<ul class="rows by">${rows}</ul>
<p class="none">Tokens of results: grey was sent, green was saved. Last: what the bill was spared.</p>`
  return card('where', 'Where', list, tabs('By', chosen, links))
}

/** In money, else as a share of the bill; a loss is red and has a sign. */
function savedCell({ money: priced, bill }: Part, currency: string | null): Html {
  const pair = currency === null ? bill : priced
  if (pair === null) return html`<span class="num meta">–</span>`
  const saved = pair.without - pair.billed
  const text = currency === null ? change(pair.without, pair.billed) : money(saved, currency)
  return html`<span class="num ${tone(saved)}">${text}</span>`
}

function oneResult(one: OwnData['one']): Html | string {
  if (one === null || 'why' in one.kept) return ''
  const { result, kept } = one
  const title = html`One of yours:
<a href="/ui/results/${result.id}">${toolName(result.tool ?? '')}</a>`
  const share = change(kept.shown.before, kept.shown.after)
  return card('one', title, sides(kept.text, kept.shown), html`<b class="good">${share}</b>`)
}

const BILLED_UNIT = 'uncached input tokens, cached reads at their price'

function unsaved({ unchanged, untouched }: Overview): Html {
  const results = unchanged.map(({ reason, count, tokens }) => [reason, count, tokens] as const)
  const requests = untouched.map(({ reason, count }) => [reason, count] as const)
  return html`${reasonTable('Results that stayed unchanged', ['Results', 'Tokens'], results)}
${requests.length === 0 ? '' : reasonTable('Requests forwarded unchanged', ['Requests'], requests)}`
}

/** @param counted what the numbers behind each reason are */
function reasonTable(
  what: string,
  counted: readonly string[],
  rows: readonly (readonly [reason: string, ...numbers: number[]])[],
): Html {
  return table({
    caption: `${what} in the window, and why`,
    columns: [
      ...['Reason', 'What helps'].map(name => ({ name })),
      ...counted.map(name => ({ name, isNumber: true })),
    ],
    rows: rows.map(([reason, ...numbers]) => {
      const { meaning, advice } = reasonOf(reason)
      return [meaning, advice, ...numbers.map(count)]
    }),
    none: 'Every result became smaller.',
  })
}

function noAccounts(): Html {
  return html`<p class="bad" role="alert">The store cannot be read now, so the figures of caches
and definitions are missing.</p>`
}

/** What definitions of tools cost, and what deferred ones spared. */
function definitionFigures({
  requests,
  tokens,
  used,
  deferred,
  searches,
  spared,
  searched,
}: DefinitionsAccount) {
  if (requests === 0) return []
  const saving = spared - searched
  const hasDeferred = deferred !== 0 || searches > 0
  return [
    {
      name: 'definitions of tools',
      value: count(Math.round(tokens / requests)),
      about:
        `tokens in each of ${count(requests)} requests; ` +
        `${percent(used, tokens)} of them of tools that were called`,
    },
    {
      name: 'deferred tools',
      value: hasDeferred ? count(Math.round(saving)) : '–',
      about: hasDeferred
        ? `saved, in ${BILLED_UNIT}: ${count(Math.round(spared))} spared, ` +
          `less ${count(Math.round(searched))} for ${count(searches)} searches`
        : 'None: cache_align.defer is off, or no kind of agent is known yet.',
      ...(saving < 0 && { tone: 'bad' as const }),
    },
  ]
}

function ofCaches({ since, life, misses, definitions }: AccountData): Html {
  return html`<p class="none">Caches and definitions, of proxies since ${time(since)} UTC:</p>
${figures([...lifeFigure(life), ...definitionFigures(definitions)])}
${missTables(misses)}`
}

/** What was bought for longer lives of caches; a loss is red. Nothing if that is all. */
function lifeFigure(life: LifeAccount): readonly Figure[] {
  const { pings, premium, pinged, avoided } = life
  if (pings === 0 && premium === 0 && avoided === 0) return []
  const net = netOf(life)
  const [hour, asked, kept] = [premium, pinged, avoided].map(count)
  return [
    {
      name: 'longer lives, part of billed',
      value: `${net < 0 ? '−' : '+'}${count(Math.abs(net))}`,
      about:
        `${BILLED_UNIT}: ${kept} of misses avoided, less ${hour} for an hour ` +
        `and ${asked} for ${count(pings)} pings`,
      tone: net < 0 ? 'bad' : 'good',
    },
  ]
}
