import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../support/app.ts'

/** The status and detail of a request with these headers; `null` for one that is let on. */
function asking(allowed: { names: readonly string[] } = { names: ['Haversack.Internal'] }) {
  const { app } = testApp({ allowedHosts: () => allowed.names })
  return async (headers: Record<string, string>, version?: string) => {
    const incoming = { headers, httpVersion: version, url: '/livez' } as unknown as IncomingMessage
    const bindings = version === undefined ? {} : { incoming }
    const response = await app.request('/livez', { headers }, bindings)
    if (response.ok) return null
    const { code, detail } = (await response.json()) as { code: string; detail: string }
    return `${code}: ${detail}`
  }
}

const ANOTHER = 'forbidden: the Host header names another machine (allowed_hosts)'
const PAGE = 'forbidden: requests of web pages are refused'

describe('the Host header', () => {
  test.each([
    'localhost',
    'LocalHost:8787',
    '127.0.0.1',
    '127.0.0.1:8787',
    '[::1]',
    '[::1]:8787',
    '10.1.2.3:80',
    'haversack.internal',
    'HAVERSACK.internal:1',
  ])('%s is let on, again and again', async host => {
    const ask = asking()
    expect([await ask({ host }), await ask({ host })]).toEqual([null, null])
  })

  test.each([
    'evil.test',
    'localhost.evil.test',
    'xlocalhost',
    'localhost:',
    'localhost:123456',
    'localhost:x',
    '1.2.3',
    '[::1',
    '[localhost].evil',
    'haversack.internal.',
  ])('%s is refused, again and again', async host => {
    const ask = asking()
    expect([await ask({ host }), await ask({ host })]).toEqual([ANOTHER, ANOTHER])
  })

  test('may be missing where a request has no version, or an old one', async () => {
    const ask = asking()
    expect(await ask({})).toBeNull()
    expect(await ask({}, '1.0')).toBeNull()
    expect(await ask({}, '1.1')).toBe('invalid_request: the Host header is missing')
    expect(await ask({ host: '' }, '1.1')).toBe('invalid_request: the Host header is missing')
    expect(await ask({ host: 'localhost' }, '1.1')).toBeNull()
  })

  test('is judged by the list of now', async () => {
    const allowed = { names: ['one.test'] as readonly string[] }
    const ask = asking(allowed)
    expect([await ask({ host: 'one.test' }), await ask({ host: 'two.test' })]).toEqual([
      null,
      ANOTHER,
    ])
    allowed.names = ['two.test']
    expect([await ask({ host: 'one.test' }), await ask({ host: 'two.test' })]).toEqual([
      ANOTHER,
      null,
    ])
    expect(await ask({ host: 'localhost' })).toBeNull()
  })

  test('is judged rightly beyond those that are remembered', async () => {
    const ask = asking()
    for (let port = 1; port <= 120; port++) await ask({ host: `localhost:${port}` })
    expect([await ask({ host: '127.0.0.9' }), await ask({ host: 'evil.test' })]).toEqual([
      null,
      ANOTHER,
    ])
  })
})

describe('the Origin header', () => {
  const host = 'localhost:8787'

  test.each([
    ['http://localhost:8787', null],
    ['https://localhost:8787', null],
    ['http://localhost', PAGE],
    ['http://evil.test', PAGE],
    ['null', PAGE],
    ['localhost:8787', PAGE],
  ])('%s', async (origin, refusal) => {
    expect(await asking()({ host, origin })).toBe(refusal)
  })
})
