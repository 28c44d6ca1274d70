import { readFileSync } from 'node:fs'
import type { Hono } from 'hono'
import type { Caller } from '../../access/access.ts'
import { AppError, ERRORS } from '../../core/base/errors.ts'
import { faultPage, loginPage } from '../../ui/entrance-pages.ts'
import { layout, type Page } from '../../ui/layout.ts'
import type { AppContext, AppEnv } from '../context.ts'
import { answerHeaders } from '../middleware/observe.ts'
import { requestHeader } from '../request/request-header.ts'
import { askedTenants } from '../routes/savings.ts'
import { createEntrance, type Entrance } from './entrance.ts'
import { createLiveEvents } from './live-events.ts'
import { PAGES, type PageRoute } from './pages.ts'
import { readForm } from './read-form.ts'
import type { UiNeeds } from './ui-needs.ts'

/** Nothing of another origin, nothing inline, and no frame around it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types haversack',
].join('; ')

/** Bytes of a form that only has a key. */
const LOGIN_BYTES = 4_096
const LOGIN = '/ui/login'

/** Mounts the page below `/ui`. A browser that asks for `/` is sent there. */
export function mountUi(app: Hono<AppEnv>, needs: UiNeeds): void {
  const entrance = createEntrance(needs.access, needs.ui.passes, Date.now)
  const live = createLiveEvents(needs.ledger, () => needs.health.state === 'draining')
  const assets = readAssets()

  app.get('/', (c, next) => (wantsPage(c) ? redirect(c, '/ui') : next()))
  for (const [name, { media, text }] of Object.entries(assets)) {
    app.get(`/ui/${name}`, c => {
      const headers = { ...answerHeaders(c), ...PROTECTION, 'content-type': media }
      return new Response(text, { headers: { ...headers, 'cache-control': 'max-age=300' } })
    })
  }
  app.get(LOGIN, c => guarded(c, needs, () => loginAnswer(c, entrance)))
  app.post(LOGIN, c => guarded(c, needs, () => logIn(c, entrance, needs)))
  app.post('/ui/logout', c =>
    guarded(c, needs, async () => {
      const reader = readerOf(c, entrance)
      if (reader !== null) await readForm(c, reader, LOGIN_BYTES, needs.admission)
      return redirect(c, LOGIN, { 'set-cookie': entrance.leave(c) })
    }),
  )
  app.get('/ui/events', c =>
    guarded(c, needs, () => {
      const reader = readerOf(c, entrance)
      if (reader === null)
        throw new AppError('unauthorized', 'the page needs a key: log in at /ui/login')
      const tenants = askedTenants(reader, c.req.query('tenant') ?? reader.tenant, needs.access)
      const stream = live.open(reader.tenant, tenants, () => entrance.isOver(c))
      const headers = { ...answerHeaders(c), ...PROTECTION, 'cache-control': 'no-store' }
      return new Response(stream, { headers: { ...headers, 'content-type': 'text/event-stream' } })
    }),
  )
  for (const page of PAGES) {
    app.on(page.method, page.path, c => guarded(c, needs, () => serve(c, page, entrance, needs)))
  }
  app.all('/ui/*', c =>
    guarded(c, needs, () => {
      if (readerOf(c, entrance) === null) return redirect(c, LOGIN)
      throw new AppError('not_found', 'there is no such page')
    }),
  )
}

const PROTECTION = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

function wantsPage(c: AppContext): boolean {
  return requestHeader(c, 'accept')?.includes('text/html') === true
}

function readerOf(c: AppContext, entrance: Entrance): Caller | null {
  const reader = entrance.readerOf(c)
  if (reader !== null) c.get('state').caller = reader
  return reader
}

async function serve(
  c: AppContext,
  { render }: PageRoute,
  entrance: Entrance,
  needs: UiNeeds,
): Promise<Response> {
  const reader = readerOf(c, entrance)
  if (reader === null) {
    const next = new URLSearchParams({ next: c.req.path + new URL(c.req.url).search })
    return redirect(c, c.req.method === 'GET' ? `${LOGIN}?${next}` : LOGIN)
  }
  const page = await render(c, reader, needs)
  const shown = { tenant: reader.tenant, canLeave: entrance.hasKeys }
  return answer(c, { ...page, reader: shown })
}

function loginAnswer(c: AppContext, entrance: Entrance): Promise<Response> | Response {
  if (!entrance.hasKeys) return redirect(c, '/ui')
  return answer(c, { title: 'Enter', body: loginPage(nextOf(c.req.query('next'))) })
}

async function logIn(c: AppContext, entrance: Entrance, needs: UiNeeds): Promise<Response> {
  const { caller } = c.get('state')
  const { text } = await readForm(c, caller, LOGIN_BYTES, needs.admission)
  const next = nextOf(text('next'))
  try {
    return redirect(c, next, { 'set-cookie': entrance.enter(c, text('key').trim()) })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const body = loginPage(next, error.detail)
    return answer(c, { title: 'Enter', body }, ERRORS[error.code].status)
  }
}

/** A path of the page itself, with its query, so that no link leads elsewhere. */
function nextOf(path: string | undefined): string {
  const isOwn = path !== undefined && /^\/ui(?:\/[\w/-]*)?(?:\?[\w.~%&=+*-]*)?$/.test(path)
  return isOwn ? path : '/ui'
}

function redirect(c: AppContext, to: string, more: Record<string, string> = {}): Response {
  const headers = { ...answerHeaders(c), ...PROTECTION, ...more, location: to }
  return new Response(null, { status: 303, headers: { ...headers, 'cache-control': 'no-store' } })
}

async function answer(c: AppContext, page: Page, status = 200): Promise<Response> {
  const text = String(await layout(page))
  const state = c.get('state')
  state.answerBytes = Buffer.byteLength(text)
  const headers = { ...answerHeaders(c), ...PROTECTION, 'cache-control': 'no-store' }
  return new Response(text, {
    status,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
  })
}

/** Failures are pages too. */
async function guarded(
  c: AppContext,
  { logger }: Pick<UiNeeds, 'logger'>,
  serveIt: () => Promise<Response> | Response,
): Promise<Response> {
  try {
    return await serveIt()
  } catch (error) {
    const state = c.get('state')
    const isExpected = error instanceof AppError
    if (!isExpected) {
      logger.error({ requestId: state.requestId, err: error }, 'unexpected error')
    }
    state.code = isExpected ? error.code : 'internal'
    const { status, title } = ERRORS[state.code]
    const detail = isExpected ? error.detail : 'an unexpected error; it was logged'
    return answer(c, { title, body: faultPage(detail) }, status)
  }
}

/** A file that the browser fetches. */
interface Asset {
  readonly media: string
  readonly text: string
}

const FOLDER = new URL('../../ui/assets/', import.meta.url)

/** The page's own files, read when the first is asked for. */
function readAssets(): Readonly<Record<string, Asset>> {
  const read = (name: string, media: string) => ({
    media,
    text: readFileSync(new URL(name, FOLDER), 'utf8'),
  })
  return {
    'style.css': read('style.css', 'text/css; charset=utf-8'),
    'live.js': read('live.js', 'text/javascript; charset=utf-8'),
    'keys.js': read('keys.js', 'text/javascript; charset=utf-8'),
    'icon.svg': read('icon.svg', 'image/svg+xml'),
  }
}
