import { describe, expect, it } from 'vitest'
import { createAccess } from '../../../src/access/access.ts'
import { type KeyRecord, SCOPES } from '../../../src/access/key-record.ts'
import type { RouteScope } from '../../../src/http/routes/route.ts'
import { createAdmission } from '../../../src/pool/admission.ts'
import { testApp } from '../../support/app.ts'
import { keyFor } from '../../support/keys.ts'

const acme = keyFor('acme')
const beta = keyFor('beta')

/** The app with these keys, all by one clock. */
function appWith(...keys: readonly { record: KeyRecord }[]) {
  const clock = { now: 0 }
  const access = createAccess(
    keys.map(({ record }) => record),
    () => clock.now,
  )
  const admission = createAdmission({
    limits: () => ({ maxJobs: 10, maxBytes: 1_000_000, maxWaitMs: 60_000 }),
    waitMs: () => 0,
    tenants: () => access.tenants,
  })
  return { ...testApp({ access, admission }), clock, admission }
}

const { app } = appWith(acme, beta)

const count = (headers: Record<string, string>, to = app) =>
  to.request('/v1/count', {
    method: 'POST',
    body: '{"content":"a b"}',
    headers: { 'content-type': 'application/json', ...headers },
  })

it('says what is wrong with two keys, and with what is no Bearer key', async () => {
  const detail = async (headers: Record<string, string>) =>
    ((await (await count(headers)).json()) as { detail: string }).detail
  const authorization = `Bearer ${acme.key}`
  expect(await detail({ authorization, 'x-api-key': beta.key })).toBe(
    'Authorization and X-Api-Key name different keys',
  )
  expect(await detail({ authorization: `Basic ${acme.key}` })).toBe(
    'Authorization must be a Bearer key',
  )
})

async function expectUnauthorized(response: Response): Promise<void> {
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe('Bearer realm="haversack"')
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('x-request-id')).toMatch(/./)
  expect(response.headers.get('allow')).toBeNull()
  const text = await response.text()
  expect(text).not.toContain(acme.key)
  if (text !== '') expect(JSON.parse(text)).toMatchObject({ code: 'unauthorized', status: 401 })
}

describe('times in headers', () => {
  const timingFor = async (scopes: KeyRecord['scopes']) => {
    const keyed = keyFor('acme', { scopes })
    const to = appWith(keyed).app
    const timings: string[] = []
    for (let i = 0; i < 20; i++) {
      const response = await count({ authorization: `Bearer ${keyed.key}` }, to)
      expect(response.status).toBe(200)
      timings.push(response.headers.get('server-timing')!)
    }
    return timings.join()
  }

  it('are whole milliseconds for a key without the scope metrics', async () => {
    expect(await timingFor(['encode'])).toMatch(/^((queue|work|total);dur=\d+[, ]*)+$/)
  })

  it('have decimals for operators', async () => {
    expect(await timingFor(['encode', 'metrics'])).toMatch(/total;dur=\d*\.\d{1,3}/)
  })
})

describe('a key', () => {
  it.each([
    ['Authorization', { authorization: `Bearer ${acme.key}` }],
    ['lower-case bearer', { authorization: `bearer ${acme.key}` }],
    ['capitals', { authorization: `BEARER ${acme.key}` }],
    ['blanks around it', { authorization: `Bearer   ${acme.key}  ` }],
    ['X-Api-Key', { 'x-api-key': acme.key }],
    ['both, the same', { authorization: `Bearer ${acme.key}`, 'x-api-key': acme.key }],
  ])('is taken from %s', async (_, headers) => {
    expect((await count(headers)).status).toBe(200)
  })

  it.each<[string, Record<string, string>]>([
    ['no header', {}],
    ['an empty Authorization', { authorization: '' }],
    ['an empty X-Api-Key', { 'x-api-key': '' }],
    ['a Bearer without a key', { authorization: 'Bearer' }],
    ['a Bearer with blanks', { authorization: 'Bearer   ' }],
    ['the key alone', { authorization: acme.key }],
    ['Basic', { authorization: `Basic ${btoa(`${acme.key}:`)}` }],
    ['Basic with the key', { authorization: `Basic ${acme.key}` }],
    ['two keys in one header', { authorization: `Bearer ${acme.key} ${beta.key}` }],
    ['two Authorizations', { authorization: `Bearer ${acme.key}, Bearer ${beta.key}` }],
    ['two X-Api-Keys', { 'x-api-key': `${acme.key}, ${acme.key}` }],
    ['a key that differs in one char', { 'x-api-key': acme.key.replace(/.$/, '~') }],
    ['the hash', { 'x-api-key': acme.record.sha256 }],
    ['the id', { 'x-api-key': acme.record.id }],
    ['a very long key', { 'x-api-key': 'x'.repeat(100_000) }],
    ['another header', { 'x-haversack-key': acme.key }],
    ['a cookie', { cookie: `authorization=Bearer ${acme.key}; x-api-key=${acme.key}` }],
    ['two that differ', { authorization: `Bearer ${acme.key}`, 'x-api-key': beta.key }],
    ['a good one beside Basic', { authorization: 'Basic eDp5', 'x-api-key': acme.key }],
    ['a good one beside nothing', { authorization: '', 'x-api-key': acme.key }],
    ['a good one beside an empty one', { authorization: `Bearer ${acme.key}`, 'x-api-key': '' }],
  ])('is not taken from %s', async (_, headers) => {
    await expectUnauthorized(await count(headers))
  })

  it.each(['key', 'api_key', 'x-api-key', 'access_token', 'authorization'])(
    'is not taken from the query (%s)',
    async name => {
      for (const value of [acme.key, `Bearer ${acme.key}`]) {
        const path = `/openapi.json?${name}=${encodeURIComponent(value)}`
        await expectUnauthorized(await app.request(path))
      }
    },
  )
})

describe('without a key', () => {
  const paths = [
    ...['/v1/encode', '/v1/decode', '/v1/count', '/v1/batch', '/metrics', '/openapi.json'],
    ...['/', '/nothing', '/v1', '/v1/', '/v1/encode/', '/V1/ENCODE', '//metrics', '/metrics/..'],
    ...['/%6detrics', '/metrics%00', '/metrics%2f', '/livez/', '/livez/x', '/readyz%20', '/admin'],
  ]

  it.each(['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE-ME'])(
    '%s tells no route from none',
    async method => {
      for (const path of paths) await expectUnauthorized(await app.request(path, { method }))
    },
  )

  it('only probes are answered, and those by GET and HEAD alone', async () => {
    for (const path of ['/livez', '/readyz']) {
      for (const method of ['GET', 'HEAD']) {
        expect((await app.request(path, { method })).status).toBe(200)
      }
      for (const method of ['POST', 'OPTIONS', 'DELETE']) {
        await expectUnauthorized(await app.request(path, { method }))
      }
    }
  })

  it('no body is read and no place is claimed', async () => {
    const { app: own, admission } = appWith(acme)
    const unread = new ReadableStream(
      {
        pull() {
          throw new Error('was read')
        },
      },
      { highWaterMark: 0 },
    )
    const response = await own.request(
      new Request('http://localhost/v1/encode', {
        method: 'POST',
        body: unread,
        duplex: 'half',
        headers: { 'content-type': 'application/json' },
      } as RequestInit),
    )
    await expectUnauthorized(response)
    expect(admission.jobs).toBe(0)
  })

  it('a browser of another site is told so, before its key is looked at', async () => {
    const headers = { host: 'evil.example' }
    expect((await app.request('/openapi.json', { headers })).status).toBe(403)
  })
})

interface RouteDoc {
  readonly description?: string
  readonly security?: readonly object[]
}

describe('without configured keys', () => {
  it.each<Record<string, string>>([
    {},
    { authorization: '' },
    { authorization: 'Basic eDp5' },
    { authorization: 'Bearer x', 'x-api-key': 'y' },
    { 'x-api-key': acme.key },
  ])('every request is let in, whatever it presents: %j', async headers => {
    expect((await count(headers, testApp().app)).status).toBe(200)
  })
})

describe('a key with one scope', () => {
  const NEEDS: Readonly<Record<string, readonly [method: string, scope: RouteScope]>> = {
    '/v1/encode': ['POST', 'encode'],
    '/v1/decode': ['POST', 'encode'],
    '/v1/count': ['POST', 'encode'],
    '/v1/knapsack': ['POST', 'encode'],
    '/v1/batch': ['POST', 'encode'],
    '/v1/savings': ['GET', ['proxy', 'admin', 'read-all']],
    '/metrics': ['GET', 'metrics'],
    '/openapi.json': ['GET', 'any'],
    '/livez': ['GET', 'open'],
    '/readyz': ['GET', 'open'],
  }
  const BODIES: Readonly<Record<string, string>> = {
    '/v1/decode': '{"content":"x","format":"passthrough"}',
    '/v1/batch': '{"jobs":[]}',
    '/v1/knapsack': '{"classes":[],"budget":0}',
  }
  const keys = SCOPES.map(scope => ({ scope, ...keyFor('acme', { scopes: [scope] }) }))
  const { app: scoped } = appWith(...keys)

  it.each(SCOPES)('%s', async scope => {
    const headers = {
      'content-type': 'application/json',
      ...keys.find(key => key.scope === scope)?.headers,
    }
    for (const [path, [method, needed]] of Object.entries(NEEDS)) {
      const body = BODIES[path] ?? '{"content":"x"}'
      const ask = (by: string, to = path) =>
        scoped.request(to, { method: by, headers, ...(by === 'POST' ? { body } : {}) })
      const may = needed === 'any' || needed === 'open' || [needed].flat().includes(scope)
      const response = await ask(method)
      expect([path, response.status]).toEqual([path, may ? 200 : 403])
      if (!may) expect(await response.json()).toMatchObject({ code: 'forbidden' })
      expect((await ask(method === 'GET' ? 'POST' : 'GET')).status).toBe(405)
      if (method === 'GET') expect((await ask('HEAD')).status).toBe(may ? 200 : 403)
      expect((await ask(method, `${path}/x`)).status).toBe(404)
    }
  })

  it('may do on every route what the schema says, and nothing on the others', async () => {
    const document = await (await scoped.request('/openapi.json', keys[0])).json()
    const { paths } = document as { paths: Record<string, Record<string, RouteDoc>> }
    for (const [pattern, methods] of Object.entries(paths)) {
      const path = pattern.replaceAll(/\{\w+\}/g, 'x')
      for (const [method, { description, security }] of Object.entries(methods)) {
        const ask = (headers: Record<string, string>) =>
          scoped.request(path, { method: method.toUpperCase(), headers })
        const enough = [...(description ?? '').matchAll(/`([^`]+)`/g)].map(match => match[1])
        if (security === undefined) await expectUnauthorized(await ask({}))
        for (const key of keys) {
          const refused = (await ask(key.headers)).status === 403
          expect([path, key.scope, refused]).toEqual([
            path,
            key.scope,
            enough.length > 0 && !enough.includes(key.scope),
          ])
        }
      }
    }
  })
})

describe('the limits of a key', () => {
  const limited = keyFor('acme', { rate_per_s: 0.5, burst: 2 })

  it('refuse what comes too fast on any route, with the time to wait', async () => {
    const { app: own, clock } = appWith(limited, beta)
    const ask = (path: string) => own.request(path, limited)
    expect((await ask('/nothing')).status).toBe(404)
    expect((await count(limited.headers, own)).status).toBe(200)
    for (const path of ['/openapi.json', '/nothing', '/metrics', '/v1/encode']) {
      const refused = await ask(path)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
      expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    }
    expect((await ask('/livez')).status).toBe(200)
    expect((await count(beta.headers, own)).status).toBe(200)
    clock.now = 2_000
    expect((await ask('/openapi.json')).status).toBe(200)
    expect((await ask('/openapi.json')).status).toBe(429)
  })

  it('refuse what is too many at once, and no other key', async () => {
    const narrow = keyFor('acme', { max_concurrent: 2 })
    const { app: own, admission } = appWith(narrow, acme, beta)
    const holder = { tenant: 'acme', keyId: narrow.record.id, maxConcurrent: 2 }
    const tickets = [admission.enter(holder, 0), admission.enter(holder, 0)]
    const refused = await count(narrow.headers, own)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    expect((await count(acme.headers, own)).status).toBe(200)
    expect((await count(beta.headers, own)).status).toBe(200)
    // What takes no place is not held up.
    expect((await own.request('/openapi.json', narrow)).status).toBe(200)
    tickets[0]?.leave()
    expect((await count(narrow.headers, own)).status).toBe(200)
    expect(admission.jobs).toBe(1)
  })
})

describe('what is reported of a request', () => {
  it('names its tenant and the id of its key, also where it was refused', async () => {
    const metrics = keyFor('ops', { scopes: ['metrics'] })
    const { app: own, logged } = appWith(acme, metrics)
    await count(acme.headers, own)
    await count(metrics.headers, own)
    await count({ 'x-api-key': 'wrong' }, own)
    const lines = logged.map(({ fields }) => fields)
    expect(lines).toMatchObject([
      { tenant: 'acme', key: acme.record.id, status: 200 },
      { tenant: 'ops', key: metrics.record.id, status: 403, code: 'forbidden' },
      { tenant: '', key: '', status: 401, code: 'unauthorized', route: '/v1/count' },
    ])
    expect(JSON.stringify(lines)).not.toMatch(/hvs_|wrong|a b/)
  })
})
