import { html } from 'hono/html'
import type { LedgerResult, Overview, ResultSums } from '../ledger/figures.ts'
import type { DefinitionsAccount } from '../savings/definitions-account.ts'
import type { SavingsFigures } from '../savings/figures.ts'
import { type LifeAccount, netOf } from '../savings/life-account.ts'
import { type Bar, chart } from './chart.ts'
import { type Figure, figures, type Html, table } from './layout.ts'
import { type MissData, missTables } from './miss-tables.ts'
import { reasonOf } from './reasons.ts'
import { resultTable } from './result-table.ts'
import { beforeAfter, count, ofWhole, percent, time } from './show.ts'
import { type PageWindow, windowLinks } from './window.ts'

export interface OverviewData {
  readonly window: PageWindow
  readonly overview: Overview
  /**
   * Figures of the proxies since their accounts began, as `/v1/savings` has them; `null` if the
   * store is away.
   */
  readonly accounts: {
    readonly since: number
    readonly figures: SavingsFigures
    readonly life: LifeAccount
    readonly misses: MissData
    readonly definitions: DefinitionsAccount
  } | null
  readonly latest: readonly LedgerResult[]
  /** The base of the service's own URLs. */
  readonly base: string
}

export function overviewPage({ window, overview, accounts, latest, base }: OverviewData): Html {
  const { results, bill } = overview
  const requests = accounts?.figures.requests.count ?? 0
  if (accounts !== null && results.results + bill.turns + requests === 0) {
    return nothingYet(base)
  }
  return html`${windowLinks('/ui', window)}
<section aria-labelledby="now"><h2 id="now">In ${window.label}</h2>
${figures(figuresOf(data(window, overview)))}
${harm(overview)}
${chart({
  title: 'Billed saving of proxied requests',
  unit: 'uncached input tokens',
  bars: overview.buckets.map(bucket => ({
    label: labelOf(bucket.at, window),
    parts: savingParts(bucket.without - bucket.billed),
  })),
})}
${chart({
  title: 'Tokens of results that were saved, by cause',
  unit: 'tokens',
  bars: overview.buckets.map(bucket => causeBar(labelOf(bucket.at, window), bucket)),
})}</section>
${ways(overview)}
${unsaved(overview)}
${accounts === null ? noAccounts() : sinceStart(accounts)}
<section aria-labelledby="latest"><h2 id="latest">Latest results</h2>
${resultTable('The latest results', latest)}</section>`
}

function data(window: PageWindow, overview: Overview) {
  return { window, ...overview }
}

const BILLED_UNIT = 'uncached input tokens, cached reads at their price'

function figuresOf({ window, results, estimated, bill }: Overview & { window: PageWindow }) {
  const { before, referred, encoded, omitted } = results
  const lossless = referred + encoded
  const billedSaving = bill.without - bill.billed
  const requests = `${count(bill.turns - bill.unknown)} requests`
  const counted = `tokens of ${count(results.results)} results, each counted once by each way in`
  const guessed = estimated === 0 ? '' : ` ${count(estimated)} of them by an estimate.`
  return [
    {
      name: 'Billed saving',
      value: bill.turns === bill.unknown ? '–' : percent(billedSaving, bill.without),
      about:
        bill.turns === bill.unknown
          ? 'No proxied request in this window said what it used.'
          : ofWhole(billedSaving, bill.without, `${BILLED_UNIT}; ${requests}, ${window.label}`),
      tone: billedSaving < 0 ? ('bad' as const) : ('good' as const),
    },
    {
      name: 'Results, lossless',
      value: percent(lossless, before),
      about: `${ofWhole(lossless, before, counted)}, by its model's tokenizer.${guessed}`,
    },
    {
      name: 'Results, left out',
      value: percent(omitted, before),
      about: ofWhole(omitted, before, 'of the same tokens; each part can be fetched again'),
    },
  ]
}

function harm({ prefixChanges, untouched }: Overview): Html {
  const requests = untouched.reduce((sum, each) => sum + each.count, 0)
  return html`<p class="${prefixChanges > 0 ? 'bad' : ''}">Prefix changes (a provider's cache was
lost by our doing): <strong>${count(prefixChanges)}</strong>. Requests forwarded unchanged:
<strong>${count(requests)}</strong>.</p>
${
  requests === 0
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
}`
}

function ways({ bySource }: Overview): Html {
  return html`<section aria-labelledby="ways"><h2 id="ways">By way in</h2>${table({
    caption: 'Results by the way that they came, in tokens',
    columns: [
      { name: 'Way' },
      ...['Results', 'Before', 'References', 'Formats', 'Left out', 'Saved'].map(name => ({
        name,
        isNumber: true,
      })),
    ],
    rows: bySource.map(sums => [sums.source, ...cells(sums)]),
    none: 'No result came in this window.',
  })}</section>`
}

function unsaved({ heaviest, unchanged }: Overview): Html {
  return html`<section aria-labelledby="left"><h2 id="left">What is still sent</h2>${table({
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
})}</section>`
}

function noAccounts(): Html {
  return html`<section aria-labelledby="all"><h2 id="all">Proxies since their start</h2>
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

function sinceStart({
  since,
  life,
  misses,
  definitions,
  figures: { results, requests, billed },
}: NonNullable<OverviewData['accounts']>): Html {
  return html`<section aria-labelledby="all"><h2 id="all">Proxies since ${time(since)} UTC</h2>
<p>As <code>GET /v1/savings</code> and <code>haversack run --summary</code> count.</p>${figures([
    {
      name: 'results',
      value: percent(results.before - results.after, results.before),
      about: beforeAfter(
        results.before,
        results.after,
        `tokens of ${count(results.count)} tool results, each counted once`,
      ),
    },
    {
      name: 'requests',
      value: percent(requests.before - requests.after, requests.before),
      about: beforeAfter(
        requests.before,
        requests.after,
        `tokens of ${count(requests.count)} prompts; a history counts in each`,
      ),
    },
    {
      name: 'billed',
      value: billed === null ? '–' : percent(billed.before - billed.after, billed.before),
      about:
        billed === null
          ? 'No answer said what it used.'
          : beforeAfter(billed.before, billed.after, BILLED_UNIT),
      ...(billed !== null && billed.after > billed.before && { tone: 'bad' }),
    },
    ...lifeFigure(life),
    ...definitionFigures(definitions),
  ])}
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

function savingParts(saving: number) {
  return [
    { name: 'saved', kind: 'good', value: Math.max(0, saving) },
    { name: 'lost', kind: 'bad', value: Math.min(0, saving) },
  ]
}

function causeBar(label: string, { referred, encoded, omitted }: ResultSums): Bar {
  return {
    label,
    parts: [
      { name: 'references', kind: 'referred', value: referred },
      { name: 'formats', kind: 'encoded', value: encoded },
      { name: 'left out', kind: 'omitted', value: omitted },
    ],
  }
}

function labelOf(at: number, { bucketHours }: PageWindow): string {
  return bucketHours === 1 ? `${time(at).slice(11, 16)} UTC` : `from ${time(at).slice(0, 16)} UTC`
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
