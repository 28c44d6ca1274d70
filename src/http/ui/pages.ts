import type { Caller } from '../../access/access.ts'
import { AppError } from '../../core/base/errors.ts'
import type { ShowAnswer, ShowRequest } from '../../core/operations/show-result.ts'
import type { LedgerResult } from '../../ledger/figures.ts'
import { figuresOf } from '../../ledger/gain-figures.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { conversationPage, conversationsPage, PAGE_ROWS } from '../../ui/conversation-pages.ts'
import { keptPage } from '../../ui/kept-page.ts'
import type { Page } from '../../ui/layout.ts'
import { overviewPage, WHERE } from '../../ui/overview-page.ts'
import { resultPage } from '../../ui/result-page.ts'
import { afterOf } from '../../ui/result-table.ts'
import { servicePage } from '../../ui/service-page.ts'
import { sortOf, toolsPage } from '../../ui/tools-page.ts'
import { EMPTY_FORM, type TryForm, tryPage } from '../../ui/try-page.ts'
import { HOUR_WINDOWS, WINDOWS, windowOf } from '../../ui/window.ts'
import type { AppContext } from '../context.ts'
import { addKey, revokeKey } from './keys.ts'
import { accountsOf, keptPart, keptText, sentText, serviceData, showText } from './page-data.ts'
import { readForm } from './read-form.ts'
import type { UiNeeds } from './ui-needs.ts'

/** A page for a reader who has entered. */
export interface PageRoute {
  readonly method: 'GET' | 'POST'
  readonly path: string
  render(c: AppContext, reader: Caller, needs: UiNeeds): Promise<Page> | Page
}

const LATEST = 20
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
  const { tenant } = reader
  const window = windowOf(c.req.query('window'), WINDOWS)
  const by = WHERE.find(each => each === c.req.query('by')) ?? WHERE[0]
  const { ledger, savings } = needs
  const [figures, gain, accounts, latest] = await Promise.all([
    ledger.overview(tenant, window.hours, window.bucketHours),
    ledger.gain(tenant, window.days, null),
    savings.read(tenant).catch(unlessBug),
    ledger.latest(tenant, LATEST),
  ])
  const data = {
    window,
    by,
    gain: figuresOf([gain], gain.from, gain.to),
    overview: figures,
    accounts: accounts === null ? null : accountsOf(accounts),
    latest,
    one: await oneOf(c, reader, latest, needs),
    base: baseOf(c),
  }
  const readAt = ledger.readAt(figures)
  return { title: 'Overview', place: '/ui', live: true, readAt, body: overviewPage(data) }
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

/** `null` for what cannot be read now: the rest of the page is shown without it. */
function unlessBug(error: unknown): null {
  if (error instanceof AppError) return null
  throw error
}

async function tools(c: AppContext, { tenant }: Caller, { ledger }: UiNeeds): Promise<Page> {
  const window = windowOf(c.req.query('window'), HOUR_WINDOWS)
  const query = { window, sort: sortOf(c.req.query('sort')), tool: c.req.query('tool') ?? '' }
  const found = await ledger.tools(tenant, window.hours)
  const readAt = ledger.readAt(found)
  return { title: 'Tools', place: '/ui/tools', live: true, readAt, body: toolsPage(found, query) }
}

async function conversations(c: AppContext, { tenant }: Caller, { ledger }: UiNeeds) {
  const page = pageOf(c.req.query('page'))
  const found = await ledger.conversations(tenant, (page - 1) * PAGE_ROWS, PAGE_ROWS)
  const body = conversationsPage(found, page)
  const readAt = ledger.readAt(found)
  return { title: 'Sessions', place: '/ui/conversations', live: true, readAt, body }
}

function pageOf(text = '1'): number {
  const page = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (page >= 1 && page <= LAST_PAGE) return page
  throw new AppError('not_found', 'there is no such page')
}

async function conversation(c: AppContext, { tenant }: Caller, { ledger }: UiNeeds) {
  const id = c.req.param('id') ?? ''
  const found = await ledger.conversation(tenant, id)
  if (found === null) throw new AppError('not_found', 'there is no such conversation')
  const body = conversationPage(found)
  const readAt = ledger.readAt(found)
  return { title: `Session ${id}`, place: '/ui/conversations', live: true, readAt, body }
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
