import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAccess } from '../../../../src/access/access.ts'
import type { KeyRecord } from '../../../../src/access/key-record.ts'
import { NO_ACCOUNT } from '../../../../src/book/bill/account.ts'
import { NO_LIFE } from '../../../../src/book/bill/life-account.ts'
import { emptyBill } from '../../../../src/book/bill/tenant-bill.ts'
import { priceList } from '../../../../src/config/prices.ts'
import { AppError } from '../../../../src/core/base/errors.ts'
import type { AppDeps } from '../../../../src/http/context.ts'
import { testApp } from '../../../support/app.ts'
import { keyFor } from '../../../support/keys.ts'
import { ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../../support/ledger/rows.ts'
import { IDLE_SERVICE } from '../../../support/ledger/ui-source.ts'

const priceListOf = () => priceList({ currency: 'USD', prices: [] })
const NONE = { count: 0, tokens: 0, cost: 0 }
const PAGES = ['/ui', '/ui/tools', '/ui/conversations', '/ui/try', '/ui/service']
const SELF = { host: 'haversack.internal', origin: 'https://haversack.internal' }
const FORM = { ...SELF, 'content-type': 'application/x-www-form-urlencoded' }

function start({
  scopes = ['ui', 'retrieve'] as KeyRecord['scopes'],
  keys = true,
  overrides = {} as Partial<AppDeps>,
} = {}) {
  const { ledger } = ownLedger({ textKeys: [] })
  const [a, b] = [keyFor('a', { scopes }), keyFor('b', { scopes })]
  const access = createAccess(keys ? [a.record, b.record] : null, () => 0)
  const { app, logged } = testApp({ ledger, ui: IDLE_SERVICE, access, ...overrides })
  const post = (path: string, fields: Record<string, string>, headers = {}) =>
    app.request(path, {
      method: 'POST',
      headers: { ...FORM, ...headers },
      body: new URLSearchParams(fields).toString(),
    })
  async function enter(key: string): Promise<{ cookie: string }> {
    const answer = await post('/ui/login', { key, next: '/ui' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/ui'])
    return { cookie: answer.headers.get('set-cookie')!.split(';')[0]! }
  }
  async function page(path: string, headers = {}): Promise<string> {
    const answer = await app.request(path, { headers })
    expect(answer.status, path).toBe(200)
    return answer.text()
  }
  return { app, ledger, access, a, b, post, enter, page, logged }
}

describe('the keys of the service', () => {
  it('are shown to administrators of their tenant only', async () => {
    const admins = start({ scopes: ['ui', 'admin'] })
    const shown = await admins.page('/ui/service', await admins.enter(admins.a.key))
    expect(shown).toContain(admins.a.record.id)
    expect(shown).not.toContain(admins.b.record.id)
    expect(shown).toContain('haversack keys add --tenant NAME --scopes encode --file FILE')
    const readers = start()
    const page = await readers.page('/ui/service', await readers.enter(readers.a.key))
    expect(page).not.toContain(readers.a.record.id)
  })
})

describe('the entrance', () => {
  it('sends browsers from / to the page, and changes nothing for others', async () => {
    const { app } = start({ keys: false })
    const browser = await app.request('/', { headers: { accept: 'text/html,*/*' } })
    expect([browser.status, browser.headers.get('location')]).toEqual([303, '/ui'])
    const other = await app.request('/', { headers: { accept: '*/*' } })
    expect([other.status, other.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json',
    ])
  })

  it('asks for a key, and gives a cookie that no script and no other page gets', async () => {
    const { app, a, enter, post } = start()
    for (const path of [...PAGES, '/ui/results/1', '/ui/nothing']) {
      const answer = await app.request(path)
      expect([path, answer.status]).toEqual([path, 303])
      expect(answer.headers.get('location')).toMatch(/^\/ui\/login/)
    }
    expect((await app.request('/ui/events')).status).toBe(401)
    const other = await app.request('/ui/events?tenant=*', { headers: await enter(a.key) })
    expect(other.status).toBe(403)
    const entered = await post('/ui/login', { key: a.key, next: '/ui/tools' })
    expect(entered.headers.get('location')).toBe('/ui/tools')
    const cookie = entered.headers.get('set-cookie')
    expect(cookie).toMatch(/; Max-Age=43200; Path=\/ui; HttpOnly; SameSite=Strict$/)
    expect(cookie).not.toContain(a.key)
    const secure = await post('/ui/login', { key: a.key }, { 'x-forwarded-proto': 'https' })
    expect(secure.headers.get('set-cookie')).toMatch(/; HttpOnly; Secure; /)
  })

  it('refuses keys without the scope, unknown keys, and says which', async () => {
    const { post, a } = start({ scopes: ['encode'] })
    const lacking = await post('/ui/login', { key: a.key })
    expect([lacking.status, await lacking.text()]).toEqual([
      403,
      expect.stringContaining('the key lacks the scope ui'),
    ])
    const unknown = await post('/ui/login', { key: 'hvs_no' })
    expect([unknown.status, unknown.headers.get('set-cookie')]).toEqual([401, null])
  })

  it('leads nowhere else afterwards', async () => {
    const { post, a } = start()
    for (const next of [
      'https://evil.example',
      '//evil.example',
      '/v1/savings',
      '/ui\\x',
      '/ui/../x',
      '/ui?x=\r\nset-cookie: x',
      '/ui?x=//evil.example',
    ]) {
      const answer = await post('/ui/login', { key: a.key, next })
      expect(answer.headers.get('location')).toBe('/ui')
    }
  })

  it('leads back to what was asked for, with its query', async () => {
    const { app, post, a } = start()
    const path = '/ui?tenant=*&by=team&window=7d'
    const asked = await app.request(path)
    const login = new URL(asked.headers.get('location')!, 'http://localhost')
    const next = login.searchParams.get('next')!
    expect(next).toBe(path)
    const shown = await (await app.request(login.pathname + login.search)).text()
    expect(shown).toContain(path.replaceAll('&', '&amp;'))
    expect((await post('/ui/login', { key: a.key, next })).headers.get('location')).toBe(path)
  })

  it('ends when the key is revoked, and when the reader leaves', async () => {
    const { app, a, b, access, enter, post } = start()
    const headers = await enter(a.key)
    expect((await app.request('/ui', { headers })).status).toBe(200)
    const left = await post('/ui/logout', {}, headers)
    expect(left.headers.get('set-cookie')).toMatch(/^haversack_ui=; .*Max-Age=0/)
    // A copy of the cookie is worth nothing any more.
    expect((await app.request('/ui', { headers })).status).toBe(303)
    const again = await enter(b.key)
    expect((await app.request('/ui', { headers: again })).status).toBe(200)
    access.replace([a.record])
    expect((await app.request('/ui', { headers: again })).status).toBe(303)
  })

  it('takes no form of another page', async () => {
    const { app, a, enter } = start()
    const cookie = await enter(a.key)
    const body = 'content=x'
    const { origin: _, ...silent } = FORM
    const nameless = await app.request('/ui/try', {
      method: 'POST',
      headers: { ...silent, ...cookie },
      body,
    })
    expect(nameless.status).toBe(403)
    const foreign = await app.request('/ui/try', {
      method: 'POST',
      headers: { ...FORM, ...cookie, origin: 'https://evil.example' },
      body,
    })
    expect(foreign.status).toBe(403)
    const rebound = await app.request('/ui', { headers: { host: 'evil.example' } })
    expect(rebound.status).toBe(403)
  })

  it('without keys is for this machine only', async () => {
    const { app } = start({ keys: false })
    const from = (remoteAddress: string) =>
      app.request('/ui', {}, { incoming: { headers: {}, socket: { remoteAddress } } } as never)
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect((await from(address)).status).toBe(200)
    }
    for (const address of ['10.0.0.7', '::ffff:10.0.0.7', '2001:db8::1', '127.evil']) {
      expect((await from(address)).status).toBe(403)
    }
  })

  it.each(['forwarded', 'x-forwarded-for', 'x-real-ip'])(
    'without keys takes nothing that a proxy passes on, by %s',
    async name => {
      const { app } = start({ keys: false })
      const incoming = { headers: {}, socket: { remoteAddress: '127.0.0.1' } }
      const headers = { [name]: 'for=10.0.0.7' }
      expect((await app.request('/ui', { headers }, { incoming } as never)).status).toBe(403)
    },
  )

  it('ends the stream of new figures when the key is revoked', async () => {
    const { app, access, a, b, enter } = start()
    const open = async (key: string) => {
      const { body } = await app.request('/ui/events', { headers: await enter(key) })
      return body!.getReader()
    }
    // The other one is opened first, so it would end first.
    const [other, revoked] = [await open(b.key), await open(a.key)]
    await revoked.read()
    await other.read()
    access.replace([b.record])
    expect(await revoked.read()).toMatchObject({ done: true })
    expect(await Promise.race([other.read(), Promise.resolve('open')])).toBe('open')
    await other.cancel()
  })

  it('is not there below a secret, or if it is off', async () => {
    const below = testApp({ ledger: ownLedger().ledger, ui: IDLE_SERVICE, proxiesBelow: '/secret' })
    expect((await below.app.request('/ui')).status).toBe(404)
    expect((await testApp().app.request('/ui')).status).toBe(404)
  })
})

describe('pages', () => {
  it('load nothing from elsewhere and run nothing inline', async () => {
    const { app, ledger } = start({ keys: false })
    ledger.result(resultOf('local'))
    for (const path of [...PAGES, '/ui/results/1', '/ui/nothing', '/ui/login']) {
      const answer = await app.request(path)
      const policy = answer.headers.get('content-security-policy')
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      const text = await answer.text()
      expect(text).not.toMatch(
        / style="|<style|<script(?! src="\/ui\/(?:live|keys)\.js" defer>)| on\w+="/,
      )
      expect(text).not.toMatch(/(?:href|src|action)="(?!\/ui|#)/)
    }
    for (const name of ['style.css', 'live.js', 'keys.js', 'icon.svg']) {
      expect((await app.request(`/ui/${name}`)).status).toBe(200)
    }
  })

  it('show what the ledger has', async () => {
    const { ledger, page } = start({ keys: false })
    const session = 'abcdef0123456789'
    ledger.result(resultOf('local', { tool: 'search', session, before: 4_000, encoded: 1_000 }))
    ledger.turn(turnOf({ conversation: session, billed: 120, without: 100, prefix_changed: true }))
    const overview = await page('/ui')
    // A loss is red, and has a sign.
    expect(overview).toContain('<dd class="bad">+20.0 %</dd>')
    expect(overview).toContain('<dd class="">−25.0 %</dd>')
    expect(overview).toContain('4,000 → 3,000 tokens, each of 1 result once')
    expect(overview).toMatch(/<dt>Lost<\/dt><dd class="bad">−1<\/dd>/)
    for (const window of ['24h', '7d', '30d', 'all']) {
      const where = await page(`/ui?window=${window}&by=tool`)
      expect(where).toMatch(/>search<\/span>[\s\S]*4,000 → 3,000<\/span>/)
      // The chart as a table.
      expect(where).toMatch(/<th scope="col" class="number">lost<\/th>/)
    }
    // A line a tool, with its shapes inside.
    expect(await page('/ui/tools')).toMatch(
      /<summary><span class="name">search[\s\S]*−25.0 %[\s\S]*<\/summary>[\s\S]*array_of_objects/,
    )
    expect(await page('/ui/tools?tool=sea&sort=saved&window=7d')).toContain('search')
    expect(await page('/ui/tools?tool=other')).toContain('No result in this window matches.')
    expect(await page('/ui/conversations')).toContain(`/ui/conversations/${session}`)
    const one = await page(`/ui/conversations/${session}`)
    expect(one).toContain('cache read 50')
    expect(one).not.toContain('/ui/results/1')
    // A result opens in place.
    expect(one).toContain(`href="/ui/conversations/${session}?order=order&amp;open=1#r1"`)
    const opened = await page(`/ui/conversations/${session}?order=saved&open=1`)
    expect(opened).toMatch(/<li id="r1" aria-current="true">[\s\S]*It was not kept/)
    expect(opened).toContain('/ui/results/1')
    expect(await page('/ui/results/1')).toContain('It was not kept')
  })

  it('show the hours of today alone where the figures are of today', async () => {
    const { ledger, page } = start({ keys: false })
    const midnight = new Date().setHours(0, 0, 0, 0)
    const turn = (at: number, billed: number) =>
      ledger.turn(turnOf({ at, billed, without: billed }))
    turn(midnight - 1, 777_000)
    turn(Date.now(), 5_000)
    const today = await page('/ui?window=24h')
    expect(today).toContain('paid 5,000')
    expect(today).not.toContain('777 k')
    expect(await page('/ui?window=7d')).toContain('paid 777 k')
    expect(await page('/ui/tools')).toMatch(/aria-current="true">24 hours</)
  })

  it('say what to do first if nothing came yet', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'haversack-path-'))
    onTestFinished(() => {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true })
    })
    writeFileSync(join(folder, 'codex'), '')
    vi.stubEnv('PATH', folder)
    const alone = await start({ keys: false }).page('/ui')
    expect(alone).toContain('haversack discover')
    expect(alone).toContain('haversack run -- codex')
    expect(alone).toContain('Found here: codex.')
    expect(alone).toContain('✓ decoded just now: it gives the original')
    // It moves by itself.
    expect(alone).toContain('src="/ui/live.js"')
    // With keys, the reader's machine may be another one.
    const { page, enter, a } = start()
    expect(await page('/ui', await enter(a.key))).toContain('haversack run -- claude')
  })

  it('list the keys that they listen to', async () => {
    const { page, app } = start({ keys: false })
    const script = await (await app.request('/ui/keys.js')).text()
    const listed = [...(await page('/ui/try')).matchAll(/<kbd>(.)<\/kbd>/g)].map(([, key]) => key!)
    expect(listed).toEqual(['j', 'k', '/', '[', ']', '?'])
    for (const key of listed) expect(script).toMatch(new RegExp(`^  '?\\${key}'?: `, 'm'))
  })

  it('show other teams to readers of all only, and nothing of their results', async () => {
    const scopes: KeyRecord['scopes'] = ['ui', 'retrieve', 'read-all']
    const budgets = {
      read: async (tenant: string) => [
        { tenant, period: 'month' as const, amount: 100, of: '2026-11', spent: 82 },
      ],
    }
    const { app, ledger, enter, page, a, b } = start({ scopes, overrides: { budgets } })
    const reader = await enter(a.key)
    // Also one who has nothing of their own is led to them.
    expect(await page('/ui', reader)).toContain('<a href="/ui?tenant=*&amp;by=team">All teams')
    ledger.result(resultOf('a', { tool: 'tool-of-a', before: 500 }))
    ledger.result(resultOf('b', { tool: 'tool-of-b', before: 7_000, session: 'b'.repeat(16) }))
    const all = await page('/ui?tenant=*&by=team', reader)
    expect(all).toContain('href="/ui?tenant=b&amp;by=project&amp;window=30d"')
    expect(all).toContain('7,500 → 7,420 tokens, each of 2 results once')
    expect(all).toContain('Budget, b, 2026-11: $82.00 of')
    expect(all).toContain('class="budget near"')
    const other = await page('/ui?tenant=b', reader)
    expect(other).toContain('7,000 → 6,960 tokens')
    for (const text of [all, other]) expect(text).not.toMatch(/bbbbbbbbb|Latest results|One of/)
    expect(await page('/ui', reader)).not.toContain('tool-of-b')
    const plain = start()
    const headers = await plain.enter(plain.b.key)
    for (const tenant of ['*', 'a']) {
      const answer = await plain.app.request(`/ui?tenant=${tenant}`, { headers })
      expect([tenant, answer.status]).toEqual([tenant, 403])
    }
    expect(await plain.page('/ui?by=team', headers)).not.toContain('tenant=*')
    expect((await app.request('/ui?tenant=b', { headers: await enter(b.key) })).status).toBe(200)
  })

  it('say whose figures they are if other replicas have their own', async () => {
    const { page, ledger } = start({ keys: false, overrides: { sharing: {} as never } })
    ledger.result(resultOf('local'))
    expect(await page('/ui')).toContain('through this replica: each has figures of its own')
  })

  it('mark misses and compactions of a session with their cost', async () => {
    const { page, ledger } = start({ keys: false })
    const at = Date.now() - 3_600_000
    const bill = (minutes: number, turn: object) =>
      ledger.turn(
        turnOf({ at: at + 60_000 * minutes, model: 'claude-sonnet-4-5', uncached: 0, ...turn }),
      )
    bill(0, { cache_read: 0, cache_write: 40_000 })
    bill(1, { cache_read: 40_000, cache_write: 1_000 })
    bill(15, { cache_read: 0, cache_write: 42_000 })
    bill(16, { cache_read: 5_000, cache_write: 7_000 })
    const text = await page(`/ui/conversations/${'c'.repeat(16)}`)
    const marks = [...text.matchAll(/<li><b>(Request \d+)<\/b>, [\d:]+:\s+(.*?)<\/li>/gs)]
    expect(marks.map(([, name, about]) => [name, about!.replace(/<[^>]*>|\n/g, ' ')])).toEqual([
      // 41,000 tokens at 1.25 in place of 0.1, at $3 a million.
      ['Request 3', expect.stringMatching(/a pause of 14 min.*; 41 k cached.*\$0\.14/)],
      ['Request 4', expect.stringMatching(/compaction.*42 k → 12 k.*; 7,000 cached.*\$0\.02/)],
    ])
    expect(text.match(/<line class="flag"/g)).toHaveLength(2)
  })

  it('show texts of tools as text, and what would not be seen', async () => {
    const { ledger, page } = start({ keys: false })
    const tool = '<script>alert(1)</script>\u202e\u0000"\'&'
    const origin = { project: tool, agent: tool }
    ledger.result(resultOf('local', { tool, class: '<b>', session: '1'.repeat(16) }, { origin }))
    for (const path of [
      '/ui',
      '/ui/tools',
      '/ui/conversations',
      `/ui/conversations/${'1'.repeat(16)}`,
      '/ui/results/1',
    ]) {
      const text = await page(path)
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\\u202e\\u0000')
      expect(text).not.toContain('<script>alert')
    }
  })

  it.each([
    '/ui/results/0',
    '/ui/results/999',
    '/ui/results/x',
    '/ui/results/99999999999999999999',
    '/ui/conversations/none',
    '/ui/conversations?page=0',
    '/ui/conversations?page=99999',
    '/ui/conversations?page=1e3',
    '/ui/__proto__',
  ])('%s is not found', async path => {
    const { app, ledger } = start({ keys: false })
    ledger.result(resultOf('local'))
    const answer = await app.request(path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ])
  })

  it('show a key its own tenant only', async () => {
    const { ledger, a, b, enter, page, app } = start()
    const session = 'feedfeedfeedfeed'
    ledger.result(resultOf('a', { tool: 'tool-of-a', session }))
    ledger.turn(turnOf({ tenant: 'a', conversation: session }))
    await ledger.latest('a', 1)
    const [reader, other] = [await enter(a.key), await enter(b.key)]
    expect(await page('/ui', reader)).toContain('tool-of-a')
    for (const path of ['/ui', '/ui/tools', '/ui/conversations', '/ui/service']) {
      expect(await page(path, other)).not.toMatch(/tool-of-a|feedfeed/)
    }
    for (const path of ['/ui/results/1', `/ui/conversations/${session}`]) {
      const [found, none] = await Promise.all(
        [path, path.replace(/1$|f.*$/, '2')].map(async each =>
          (await app.request(each, { headers: other })).text(),
        ),
      )
      expect(found).toBe(none)
    }
  })

  it('show texts only to keys that may retrieve, beside what they become', async () => {
    const content = JSON.stringify(Array.from({ length: 9 }, (_, id) => ({ id, name: `n${id}` })))
    const fetched: unknown[] = []
    const originals = {
      fetch: async (reference: unknown) => {
        fetched.push(reference)
        return { body: Buffer.from(content), media_type: 'text/plain' }
      },
    } as unknown as AppDeps['originals']
    for (const scopes of [['ui'], ['ui', 'retrieve']] as const) {
      const { ledger, a, enter, page } = start({ scopes: [...scopes], overrides: { originals } })
      ledger.result(resultOf('a', { original: 'ab'.repeat(32) }))
      const text = await page('/ui/results/1', await enter(a.key))
      const mayRead = (scopes as readonly string[]).includes('retrieve')
      expect(text.includes('decoded just now: it gives the original')).toBe(mayRead)
      expect(text.includes('Texts are shown to keys with the scope retrieve.')).toBe(!mayRead)
      expect(text.includes('n8')).toBe(mayRead)
    }
    expect(fetched).toEqual([{ tenant: 'a', ref: 'ab'.repeat(32) }])
  })

  it('show both sides of a result whose texts are kept, decoded again', async () => {
    const { ledger, page } = start({ keys: false })
    const [before, after] = ['[{"id":1,"b":"<i>"},{"id":2,"b":"y"}]', 'id,b\n1,<i>\n2,y']
    ledger.result(resultOf('local', {}, { texts: { before, after, format: 'csv@1' } }))
    ledger.result(resultOf('local', {}, { texts: { before, after: 'id,b\n1,x', format: 'csv@1' } }))
    const text = await page('/ui/results/1')
    expect(text).toContain('id,b\n1,&lt;i&gt;\n2,y')
    expect(text).toContain('✓ decoded just now')
    ledger.result(resultOf('local', { encoded: 60 }, { texts: { before, after, format: 'csv@1' } }))
    expect(await page('/ui')).toMatch(/One of yours:[\s\S]*1,&lt;i&gt;[\s\S]*✓ decoded just now/)
    expect(text).not.toContain('<i>')
    expect(await page('/ui/results/2')).not.toContain('✓ decoded just now')
  })

  it('show what a marker left out, to keys that may retrieve, from their own tenant', async () => {
    const fetched: unknown[] = []
    const kept = { hash: 'ab'.repeat(32), bytes: 9, created_at: 0, expires_at: 1 }
    const media_type = 'text/plain'
    const originals = {
      fetch: async (reference: unknown) => {
        fetched.push(reference)
        return { ...kept, media_type, body: Buffer.from('<b>whole') }
      },
      fetchPart: async (reference: unknown, selector: unknown) => {
        fetched.push([reference, selector])
        return { ...kept, media_type, part: { content: Buffer.from('a part') } }
      },
    } as unknown as AppDeps['originals']
    const ref = 'ab'.repeat(12)
    const { app, a, enter, page } = start({ overrides: { originals } })
    const headers = await enter(a.key)
    expect(await page(`/ui/kept/${ref}`, headers)).toContain('&lt;b&gt;whole')
    expect(await page(`/ui/kept/${ref}?lines=4-8`, headers)).toContain('a part')
    const range = { first: 4, last: 8 }
    expect(fetched).toEqual([
      { tenant: 'a', ref },
      [
        { tenant: 'a', ref },
        { kind: 'lines', range },
      ],
    ])
    expect((await app.request(`/ui/kept/${ref}?lines=x`, { headers })).status).toBe(400)
    const blind = start({ scopes: ['ui'], overrides: { originals } })
    const denied = await blind.app.request(`/ui/kept/${ref}`, {
      headers: await blind.enter(blind.a.key),
    })
    expect(denied.status).toBe(403)
    expect(fetched).toHaveLength(2)
  })

  it('lead from a reference to the result that it refers to', async () => {
    const { ledger, a, enter, page } = start()
    const of = { session: 'f'.repeat(16), original: 'ab'.repeat(32) }
    ledger.result(resultOf('a', { ...of, layer: 'L1' }))
    ledger.result(resultOf('a', { ...of, layer: 'L0' }))
    const headers = await enter(a.key)
    expect(await page('/ui/results/2', headers)).toContain('<a href="/ui/results/1">')
    expect(await page('/ui/results/1', headers)).not.toContain('an earlier result')
  })

  it.each([
    [{ premium: 7_500, pinged: 500, avoided: 1_000, pings: 2 }, 'bad', '−7,000'],
    [{ premium: 0, pinged: 500, avoided: 5_750, pings: 1 }, 'good', '+5,250'],
  ])('show what longer lives cost and brought: %o is %s', async (life, tone, net) => {
    const misses = {
      idle: { count: 3, tokens: 30_000, cost: 3_000 },
      model: { ...NONE, cost: 1_000 },
    }
    const account = { ...NO_ACCOUNT, requests: 1, misses, life: { ...NO_LIFE, ...life } }
    const ledger = { ...emptyBill(0), vendors: { anthropic: account } }
    const { page } = start({
      keys: false,
      overrides: { savings: { read: async () => ledger, prices: priceListOf } as never },
    })
    const text = await page('/ui')
    expect(text).toContain(`<dd class="${tone}">${net}</dd>`)
    expect(text).toContain('<meter value="0.750" aria-label="75.0 %"></meter>')
  })

  it('say of when the figures are, if they cannot be read now', async () => {
    const { ledger } = ownLedger()
    const figures = await ledger.overview('local', 24, 1)
    const gain = await ledger.gain(['local'], 1, null)
    const readAt = Date.UTC(2026, 0, 2, 3, 4, 5)
    const { page } = start({
      keys: false,
      overrides: {
        ledger: {
          latest: async () => [],
          conversations: async () => ({ rows: [], total: 0 }),
          overview: async () => figures,
          gain: async () => gain,
          readAt: () => readAt,
        } as never,
        savings: {
          read: () => Promise.reject(new AppError('overloaded', 'the store is away')),
          prices: priceListOf,
        } as never,
      },
    })
    const text = await page('/ui')
    expect(text).toContain('2026-01-02 03:04:05 UTC')
    expect(text).toContain('The store cannot be read now')
  })

  it('say why a text is not there any more', async () => {
    const { ledger, a, enter, page } = start({
      overrides: {
        originals: {
          fetch: () => Promise.reject(new AppError('gone', 'it expired')),
        } as unknown as AppDeps['originals'],
      },
    })
    ledger.result(resultOf('a', { original: 'ab'.repeat(32) }))
    expect(await page('/ui/results/1', await enter(a.key))).toContain('it expired')
  })

  it('say that a store or a ledger is gone, and log no content', async () => {
    const { app, logged } = start({
      keys: false,
      overrides: {
        ledger: {
          latest: async () => [],
          conversations: async () => ({ rows: [], total: 0 }),
          overview: () => Promise.reject(new AppError('worker_lost', 'the ledger was lost')),
          gain: () => Promise.reject(new AppError('worker_lost', 'the ledger was lost')),
          tools: () => Promise.reject(new Error('a bug')),
        } as never,
      },
    })
    const lost = await app.request('/ui')
    expect([lost.status, await lost.text()]).toEqual([
      503,
      expect.stringContaining('the ledger was lost'),
    ])
    const bug = await app.request('/ui/tools')
    expect([bug.status, (await bug.text()).includes('a bug')]).toEqual([500, false])
    expect(logged.filter(({ level }) => level === 'error')).toHaveLength(1)
  })
})

describe('a try', () => {
  it('takes no form that would keep other requests waiting', async () => {
    const { post } = start({ keys: false, overrides: { maxBodyBytes: 1 << 24 } })
    const answer = await post('/ui/try', { content: 'x'.repeat(1024 * 1024) })
    expect(answer.status).toBe(413)
  })

  const rows = JSON.stringify(Array.from({ length: 9 }, (_, id) => ({ id, name: `name ${id}` })))

  it('shows the text before and after, and keeps nothing', async () => {
    const { post, ledger } = start({ keys: false })
    const answer = await post('/ui/try', { content: rows, tool: 'users', mode: 'lossless' })
    const text = await answer.text()
    expect(text).toContain('decoded just now: it gives the original')
    expect(text).toContain('csv@1')
    expect(await ledger.latest('local', 9)).toEqual([])
  })

  it('reads ends of lines as LF', async () => {
    const { post } = start({ keys: false })
    const answer = await post('/ui/try', { content: 'one\r\ntwo' })
    expect(await answer.text()).toContain('>one\ntwo</pre>')
  })

  it('keeps a line feed at the start of what was typed, which HTML drops after the tag', async () => {
    const { post } = start({ keys: false })
    const answer = await post('/ui/try', { content: '\none' })
    expect(await answer.text()).toMatch(/<textarea [^>]*>\n\none<\/textarea>/)
  })

  it('says what is wrong with it, and keeps what was typed', async () => {
    const { post } = start({ keys: false })
    const bad = await post('/ui/try', { content: '</textarea><b>', mode: 'trim', budget: '-1' })
    const text = await bad.text()
    expect(text).toContain('role="alert"')
    expect(text).toContain('&lt;/textarea&gt;&lt;b&gt;')
    const unknown = await post('/ui/try', { content: 'x', mode: 'other', budget: 'many' })
    expect([unknown.status, await unknown.text()]).toEqual([
      200,
      expect.stringContaining('role="alert"'),
    ])
  })
})
