import { html } from 'hono/html'
import { visible } from '../core/base/visible.ts'
import { change, grouped, isoDay, money, shortDay, tokens } from '../ledger/amounts.ts'
import type { LedgerResult, Overview, ResultSums } from '../ledger/figures.ts'
import { type By, type GainFigures, type Part, withRest } from '../ledger/gain-figures.ts'
import type { DefinitionsAccount } from '../savings/definitions-account.ts'
import { type LifeAccount, netOf } from '../savings/life-account.ts'
import { type Bar, chart } from './chart.ts'
import { type Figure, figures, type Html, table } from './layout.ts'
import { missTables } from './miss-tables.ts'
import { type AccountData, moreToSave } from './more-to-save.ts'
import { reasonOf } from './reasons.ts'
import { type Kept, sides } from './result-page.ts'
import { resultTable } from './result-table.ts'
import { count, percent, time } from './show.ts'
import { type PageWindow, windowLinks } from './window.ts'

export interface OverviewData {
  readonly window: PageWindow
  /** What the day sums say in the window. */
  readonly gain: GainFigures
  readonly by: Where
  /** What the hours say; they are kept for a week. */
  readonly overview: Overview
  /** `null` if the store is away. */
  readonly accounts: AccountData | null
  readonly latest: readonly LedgerResult[]
  /** One of them with both sides; `null`: none is kept. */
  readonly one: { readonly result: LedgerResult; readonly kept: Kept } | null
  /** The base of the service's own URLs. */
  readonly base: string
}

/** What the figures are shown by. */
export const WHERE = ['project', 'agent', 'model', 'tool', 'way'] as const satisfies readonly By[]
export type Where = (typeof WHERE)[number]

export function overviewPage(data: OverviewData): Html {
  const { window, gain, by, overview, accounts, latest, one, base } = data
  const { total } = gain
  const requests = accounts?.figures.requests.count ?? 0
  if (accounts !== null && total.results + total.requests + requests + latest.length === 0) {
    return nothingYet(base)
  }
  return html`${windowLinks(`/ui?by=${by}`, window)}
<section aria-label="The bill">${figures(trio(gain, window))}
${window.days === 1 ? billByHour(overview) : billByDay(gain)}</section>
<div class="two">${where(gain, by, window)}
${moreToSave(gain, accounts)}</div>
${oneResult(one)}
<section aria-labelledby="latest"><h2 id="latest">Latest results</h2>
${resultTable('The latest results', latest)}</section>
${unsaved(overview, window)}
${accounts === null ? noAccounts() : ofCaches(accounts)}`
}

/** The three figures that matter. */
function trio({ total, currency }: GainFigures, { label }: PageWindow): readonly Figure[] {
  const { results, before, after, omitted, fetched, prefix_changes: broken } = total
  const left =
    omitted === 0
      ? 'Every result decodes to its original.'
      : `${tokens(omitted)} tokens left out, to be fetched back; fetched ${grouped(fetched)} times.`
  const caches = broken === 1 ? 'cache' : 'caches'
  return [
    savedFigure(total, currency, label),
    {
      name: 'Tool results',
      value: change(before, after),
      about: `${tokens(before)} → ${tokens(after)} tokens, each of ${count(results)} results once`,
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

function savedFigure({ bill, money: priced, requests }: Part, currency: string | null, of: string) {
  const name = 'Saved'
  if (priced !== null && currency !== null) {
    const saved = priced.without - priced.billed
    const sums = `${money(priced.without, currency)} → ${money(priced.billed, currency)}`
    const share = change(priced.without, priced.billed)
    const about = `${share} of the bill of ${of}: ${sums}, ${grouped(requests)} requests`
    return { name, value: money(saved, currency), about, tone: toneOf(saved) }
  }
  if (bill === null) {
    return { name, value: '–', about: 'No bill is known: hooks, MCP and encode see none.' }
  }
  const sums = `${tokens(bill.without)} → ${tokens(bill.billed)}`
  const about = `of the bill of ${of}: ${sums} ${BILLED_UNIT}, ${grouped(requests)} requests`
  const tone = toneOf(bill.without - bill.billed)
  return { name, value: change(bill.without, bill.billed), about, tone }
}

function toneOf(saved: number): 'good' | 'bad' {
  return saved < 0 ? 'bad' : 'good'
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

function billByHour({ buckets, bill }: Overview): Html {
  const hasBill = bill.turns > bill.unknown
  const bars = buckets.map(bucket => {
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
  ...{ project: '(no repository)', agent: '(unknown)', model: '(no model)' },
  ...{ tool: '(rest of the prompt)', way: '(unknown)' },
}

function where({ by, currency }: GainFigures, chosen: Where, window: PageWindow): Html {
  const tabs = WHERE.map(each => {
    const mark = each === chosen ? html` aria-current="true"` : ''
    return html`<li><a href="/ui?window=${window.name}&by=${each}"${mark}>${each}</a></li>`
  })
  return html`<section aria-labelledby="where"><h2 id="where">Where</h2>
<ul class="windows" aria-label="By">${tabs}</ul>${table({
    caption: `Tokens of results, and the bill, by ${chosen}`,
    columns: [
      { name: 'Name' },
      ...['Before', 'After', 'Change', 'Saved'].map(name => ({ name, isNumber: true })),
    ],
    rows: withRest(by[chosen], MOST_PARTS).map(part => [
      visible(part.name || NAMES[chosen]),
      tokens(part.before),
      tokens(part.after),
      change(part.before, part.after),
      savedCell(part, currency),
    ]),
    none: 'Nothing came in this window.',
  })}</section>`
}

/** In money, else as a share of the bill; a loss is red and has a sign. */
function savedCell({ money: priced, bill }: Part, currency: string | null): Html | string {
  const pair = currency === null ? bill : priced
  if (pair === null) return '–'
  const saved = pair.without - pair.billed
  const text = currency === null ? change(pair.without, pair.billed) : money(saved, currency)
  return html`<span class="${toneOf(saved)}">${text}</span>`
}

function oneResult(one: OverviewData['one']): Html | string {
  if (one === null || 'why' in one.kept) return ''
  const { result, kept } = one
  return html`<section aria-labelledby="one"><h2 id="one">One of yours:
<a href="/ui/results/${result.id}">${visible(result.tool ?? '(not named)')}</a>
<span class="unit">${time(result.at)} UTC</span></h2>
${sides(kept.text, kept.shown)}</section>`
}

const BILLED_UNIT = 'uncached input tokens, cached reads at their price'

function unsaved({ heaviest, unchanged, untouched }: Overview, { hours }: PageWindow): Html {
  return html`<section aria-labelledby="left"><h2 id="left">What is still sent
<span class="unit">the last ${hours} hours</span></h2>${table({
    caption: 'The tools with the most tokens that are still sent',
    columns: [
      { name: 'Tool' },
      ...['Results', 'Still sent', 'Saved'].map(name => ({ name, isNumber: true })),
    ],
    rows: heaviest.map(sums => [
      html`<a href="/ui/tools?tool=${encodeURIComponent(sums.tool)}">${toolName(sums.tool)}</a>`,
      count(sums.results),
      count(sums.before - savedOf(sums)),
      percent(savedOf(sums), sums.before),
    ]),
    none: 'No result came in this window.',
  })}
${table({
  caption: 'Results that stayed unchanged, and why',
  columns: REASON_COLUMNS,
  rows: unchanged.map(({ reason, count: times, tokens }) => [
    reasonOf(reason).meaning,
    reasonOf(reason).advice,
    count(times),
    count(tokens),
  ]),
  none: 'Every result became smaller.',
})}
${
  untouched.length === 0
    ? ''
    : table({
        caption: 'Requests that were forwarded unchanged, and why',
        columns: REASON_COLUMNS.slice(0, 3).with(2, { name: 'Requests', isNumber: true }),
        rows: untouched.map(({ reason, count: times }) => [
          reasonOf(reason).meaning,
          reasonOf(reason).advice,
          count(times),
        ]),
        none: '',
      })
}</section>`
}

function noAccounts(): Html {
  return html`<section aria-labelledby="all"><h2 id="all">Caches and definitions of tools</h2>
<p class="bad" role="alert">The store cannot be read now, so these figures are missing.</p>
</section>`
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
  return html`<section aria-labelledby="all"><h2 id="all">Caches and definitions of tools
<span class="unit">of proxies, since ${time(since)} UTC</span></h2>
${figures([...lifeFigure(life), ...definitionFigures(definitions)])}
${missTables(misses)}</section>`
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

const REASON_COLUMNS = [
  { name: 'Reason' },
  { name: 'What helps' },
  ...['Results', 'Tokens'].map(name => ({ name, isNumber: true })),
]

/** The cells of a row of sums, after its name. */
export function cells(sums: ResultSums): readonly string[] {
  const { results, before, referred, encoded, omitted } = sums
  const numbers = [results, before, referred, encoded, omitted].map(count)
  return [...numbers, percent(savedOf(sums), before)]
}

export function savedOf({ referred, encoded, omitted }: ResultSums): number {
  return referred + encoded + omitted
}

export function toolName(tool: string): string {
  return tool === '' ? '(not named)' : tool
}

function nothingYet(base: string): Html {
  return html`<section><h2>No result came yet</h2>
<p>Send one, then look here again:</p>
<pre>curl -s ${base}/v1/encode -H 'content-type: application/json' \\
  -d '{"content":"[{\\"id\\":1,\\"name\\":\\"Ann\\"},{\\"id\\":2,\\"name\\":\\"Bo\\"}]"}'</pre>
<p>An agent saves without a change in its code: <code>haversack setup claude</code>, or
<code>haversack run -- claude</code>. <code>haversack doctor</code> says what is missing.
Or <a href="/ui/try">try a result</a> on this page.</p></section>`
}
