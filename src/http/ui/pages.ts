import type { Caller } from '../../access/access.ts'
import { addBills } from '../../book/bill/tenant-bill.ts'
import { turnMarks } from '../../book/bill/turn-marks.ts'
import type { LedgerResult } from '../../book/rows/figures.ts'
import { figuresOf, type GainFigures } from '../../book/rows/gain-figures.ts'
import type { Ledger } from '../../book/rows/ledger.ts'
import { AppError } from '../../core/base/errors.ts'
import type { ShowAnswer, ShowRequest } from '../../core/operations/show-result.ts'
import {
  conversationHead,
  conversationPage,
  conversationsPage,
  orderOf,
  PAGE_ROWS,
} from '../../ui/conversation-pages.ts'
import { emptyPage } from '../../ui/empty-page.ts'
import { keptPage } from '../../ui/kept-page.ts'
import { type Page, tabs } from '../../ui/layout.ts'
import { overviewPage, overviewPath, WHERE } from '../../ui/overview-page.ts'
import { openedResult, resultPage } from '../../ui/result-page.ts'
import { afterOf } from '../../ui/result-rows.ts'
import { servicePage } from '../../ui/service-page.ts'
import { sortOf, toolsPage } from '../../ui/tools-page.ts'
import { EMPTY_FORM, type TryForm, tryPage } from '../../ui/try-page.ts'
import { HOUR_WINDOWS, type PageWindow, WINDOWS, windowLinks, windowOf } from '../../ui/window.ts'
import type { AppContext } from '../context.ts'
import { askedTenants } from '../routes/savings.ts'
import { addKey, revokeKey } from './keys.ts'
import {
  accountsOf,
  firstSteps,
  keptPart,
  keptText,
  pricedBy,
  sentText,
  serviceData,
  showText,
  unlessBug,
} from './page-data.ts'
import { readForm } from './read-form.ts'
import type { UiNeeds } from './ui-needs.ts'

/** A page for a reader who has entered. */
export interface PageRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  render(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> | Page
}

/** Results that the overview looks through, and those and sessions that it lists. */
const [LATEST, LISTED] = [20, 8]
const KEY_FORM_BYTES = 4_096

/** Bytes of a form that is tried: it is read, and shown again, in the thread of all requests. */
const TRY_BYTES = 1024 * 1024

/** Later pages than this are refused, so that no query counts for long. */
const LAST_PAGE = 10_000

/** Every page. */
export const PAGES: readonly PageRoute[] = [
  { method: 'GET', path: '/ui', render: overview },
  { method: 'GET', path: '/ui/tools', render: tools },
  { method: 'GET', path: '/ui/conversations', render: conversations },
  { method: 'GET', path: '/ui/conversations/:id', render: conversation },
  { method: 'GET', path: '/ui/results/:id', render: result },
  { method: 'GET', path: '/ui/kept/:hash', render: kept },
  {
    method: 'GET',
    path: '/ui/try',
    render: () => ({ title: 'Try it', place: '/ui/try', body: tryPage(EMPTY_FORM) }),
  },
  { method: 'POST', path: '/ui/try', render: tried },
  { method: 'GET', path: '/ui/service', render: (_, reader, needs) => service(reader, needs) },
  { method: 'POST', path: '/ui/keys', render: keyAdded },
  { method: 'POST', path: '/ui/keys/revoke', render: keyRevoked },
]

/** How the reader reaches the service; its `Host` was checked. */
function baseOf(c: AppContext): string {
  return new URL(c.req.url).origin
}

async function overview(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> {
  const { access, budgets, ledger, savings, sharing } = needs
  const window = windowOf(c.req.query('window'), WINDOWS, '30d')
  const of = c.req.query('tenant') ?? reader.tenant
  const readsAll = reader.scopes.has('read-all') && access.records() !== null
  const tenants = askedTenants(reader, of, access)
  const [sums, accounts, states, own] = await Promise.all([
    ledger.gain(tenants, window.days, null),
    Promise.all(tenants.map(each => savings.read(each))).catch(unlessBug),
    Promise.all(tenants.map(each => budgets.read(each))).catch(unlessBug),
    of === reader.tenant ? ownData(c, reader, window, needs) : null,
  ])
  const gain = figuresOf([sums], sums.from, sums.to)
  const ledgers = accounts?.reduce(addBills)
  const { results, requests } = gain.total
  const asked = ledgers === undefined ? 0 : accountsOf(ledgers).figures.requests.count
  const place = { title: 'Overview', place: '/ui', live: true, readAt: ledger.readAt(sums) }
  if (ledgers !== undefined && own?.latest.length === 0 && results + requests + asked === 0) {
    const sub = 'Nothing has come yet. This page changes by itself as soon as something does.'
    const body = emptyPage(await firstSteps(c, reader, needs))
    const path = overviewPath({ by: 'team', of: '*' })
    const aside = readsAll && { aside: tabs('Teams', '', [['*', path, 'All teams']]) }
    return { ...place, heading: 'See it work in a minute', sub, body, ...aside }
  }
  const wished = WHERE.find(each => each === c.req.query('by'))
  const by = wished === undefined || (wished === 'team' && !readsAll) ? WHERE[0] : wished
  const body = overviewPage({
    window,
    by,
    of,
    own,
    readsAll,
    gain,
    priced: pricedBy(needs),
    budgets: states?.flat() ?? [],
    accounts: ledgers === undefined ? null : accountsOf(ledgers),
  })
  return {
    ...place,
    heading: window.label.replace(/^./, letter => letter.toUpperCase()),
    sub: whose(of, gain, sharing !== undefined),
    aside: windowLinks(overviewPath({ by, of }), window),
    body,
  }
}

/** Whose figures a page shows: a ledger has those of all processes on one data folder. */
function whose(of: string, { by }: GainFigures, isShared: boolean): string {
  const ways = by.way.map(({ name }) => name).filter(Boolean)
  const parts = [
    of === '*' ? 'All teams' : of,
    ...(ways.length === 0 ? [] : [`by ${ways.join(', ')}`]),
    ...(isShared ? ['through this replica: each has figures of its own'] : []),
  ]
  return parts.join(' · ')
}

/** What a tenant sees of its own only. */
async function ownData(c: AppContext, reader: Caller, window: PageWindow, needs: UiNeeds) {
  const { ledger } = needs
  const [figures, latest, sessions] = await Promise.all([
    ledger.overview(reader.tenant, window.hours, window.bucketHours),
    ledger.latest(reader.tenant, LATEST),
    ledger.conversations(reader.tenant, 0, LISTED),
  ])
  const one = await oneOf(c, reader, latest, needs)
  return { overview: figures, latest: latest.slice(0, LISTED), sessions, one }
}

/** Larger results are not shown on the first page. */
const SMALL_TOKENS = 4_000

/** The latest result that became much smaller, if its texts are kept. */
async function oneOf(
  c: AppContext,
  reader: Caller,
  latest: readonly LedgerResult[],
  needs: UiNeeds,
) {
  const result = latest.find(
    each => each.before <= SMALL_TOKENS && afterOf(each) < each.before / 2 && each.omitted === 0,
  )
  if (result === undefined || !reader.scopes.has('retrieve')) return null
  const kept = await sentText(c, reader, result, needs)
  return kept === null ? null : { result, kept }
}

async function tools(c: AppContext, { tenant }: Caller, { ledger }: UiNeeds): Promise<Page> {
  const window = windowOf(c.req.query('window'), HOUR_WINDOWS, '24h')
  const query = { window, sort: sortOf(c.req.query('sort')), tool: c.req.query('tool') ?? '' }
  const found = await ledger.tools(tenant, window.hours)
  const path = `/ui/tools?${new URLSearchParams({ sort: query.sort, tool: query.tool })}`
  return {
    title: 'Tools',
    place: '/ui/tools',
    live: true,
    readAt: ledger.readAt(found),
    sub: `Tokens of results in the last ${window.hours} hours. A line opens to its shapes.`,
    aside: windowLinks(path, window, HOUR_WINDOWS),
    body: toolsPage(found, query),
  }
}

async function conversations(c: AppContext, { tenant }: Caller, needs: UiNeeds): Promise<Page> {
  const { ledger } = needs
  const page = pageOf(c.req.query('page'))
  const found = await ledger.conversations(tenant, (page - 1) * PAGE_ROWS, PAGE_ROWS)
  return {
    title: 'Sessions',
    place: '/ui/conversations',
    live: true,
    readAt: ledger.readAt(found),
    sub: 'The latest first; times are UTC. The bar is of tokens of results.',
    body: conversationsPage(found, page, pricedBy(needs)),
  }
}

function pageOf(text = '1'): number {
  const page = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (page >= 1 && page <= LAST_PAGE) return page
  throw new AppError('not_found', 'there is no such page')
}

async function conversation(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> {
  const { ledger, savings } = needs
  const id = c.req.param('id') ?? ''
  const found = await ledger.conversation(reader.tenant, id)
  if (found === null) throw new AppError('not_found', 'there is no such conversation')
  const { rows } = await ledger.conversations(reader.tenant, 0, PAGE_ROWS)
  const at = rows.findIndex(each => each.id === id)
  const around = [rows[at - 1]?.id ?? null, (at < 0 ? null : rows[at + 1]?.id) ?? null] as const
  const opened = found.results.find(each => String(each.id) === c.req.query('open'))
  const kept = opened === undefined ? null : await keptText(c, reader, opened, needs)
  const body = conversationPage(found, {
    order: orderOf(c.req.query('order')),
    open: kept === null ? null : { id: opened!.id, shown: openedResult(opened!.id, kept) },
    marks: turnMarks(found.turns, savings.prices()),
    priced: pricedBy(needs),
  })
  return {
    title: `Session ${id}`,
    place: '/ui/conversations',
    live: true,
    ...conversationHead(found, around),
    readAt: ledger.readAt(found),
    body,
  }
}

async function result(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> {
  const text = c.req.param('id') ?? ''
  const id = /^\d{1,15}$/.test(text) ? Number(text) : 0
  const found = await needs.ledger.item(reader.tenant, id)
  if (found === null) throw new AppError('not_found', 'there is no such result')
  const kept = await keptText(c, reader, found, needs)
  const earlier = await earlierOf(found, reader.tenant, needs.ledger)
  return { title: `Result ${id}`, body: resultPage(found, earlier, kept, baseOf(c)) }
}

/** The result of the same text that came first in the conversation, for a reference to it. */
async function earlierOf(
  { id, layer, conversation, original }: LedgerResult,
  tenant: string,
  ledger: Pick<Ledger, 'conversation'>,
): Promise<number | null> {
  if (layer !== 'L0' || conversation === '' || original === null) return null
  const found = await ledger.conversation(tenant, conversation)
  const same = found?.results.filter(each => each.original === original && each.id < id) ?? []
  return same.reduce<number | null>((first, each) => Math.min(first ?? each.id, each.id), null)
}

async function kept(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> {
  const found = await keptPart(reader, c.req.param('hash') ?? '', c.req.query(), needs)
  return { title: 'Kept text', body: keptPage(found) }
}

async function service(reader: Caller, needs: UiNeeds, fresh: string | null = null) {
  const body = servicePage(await serviceData(reader, needs, fresh))
  return { title: 'Service', place: '/ui/service', body }
}

async function keyAdded(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> {
  const { text, all } = await readForm(c, reader, KEY_FORM_BYTES, needs.admission)
  return service(reader, needs, addKey(reader, all('scope'), text('note'), needs))
}

async function keyRevoked(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> {
  const { text } = await readForm(c, reader, KEY_FORM_BYTES, needs.admission)
  revokeKey(reader, text('id'), needs)
  return service(reader, needs)
}

async function tried(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> {
  const most = Math.min(needs.maxBodyBytes, TRY_BYTES)
  const { text } = await readForm(c, reader, most, needs.admission)
  const form: TryForm = {
    content: text('content'),
    tool: text('tool'),
    model: text('model'),
    mode: text('mode'),
    budget: text('budget'),
  }
  const outcome = await outcomeOf(c, reader, form, needs)
  return { title: 'Try it', place: '/ui/try', body: tryPage(form, outcome) }
}

async function outcomeOf(
  c: AppContext,
  reader: Caller,
  { content, tool, model, mode, budget }: TryForm,
  needs: UiNeeds,
): Promise<ShowAnswer | { readonly fault: string }> {
  const request: ShowRequest = {
    content,
    ...(tool === '' ? {} : { tool }),
    ...(model === '' ? {} : { model }),
    ...(mode === '' ? {} : { mode: mode as ShowRequest['mode'] }),
    ...(budget === '' ? {} : { budget_tokens: Number(budget) }),
  }
  try {
    return await showText(c, reader, request, needs)
  } catch (error) {
    if (error instanceof AppError) return { fault: error.detail }
    throw error
  }
}
