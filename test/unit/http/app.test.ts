import { Packr } from 'msgpackr'
import { describe, expect, it } from 'vitest'
import { LOCAL } from '../../../src/access/access.ts'
import { testApp } from '../../support/app.ts'

interface OpenApiLike {
  paths: Record<
    string,
    {
      post: {
        requestBody: {
          content: Record<string, { schema: { properties: object; additionalProperties: boolean } }>
        }
      }
    }
  >
}

const packr = new Packr({ useRecords: false })

describe('the routes of operations', () => {
  it('answer JSON with id and times', async () => {
    const { post } = testApp()
    const response = await post('/v1/count', '{"content":"a b"}')
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ tokens: 2, tokenizer: 'o200k_base', exact: true })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-request-id')).toMatch(/^[\w-]{10,}$/)
    expect(response.headers.get('server-timing')).toMatch(
      /^queue;dur=[\d.]+, work;dur=[\d.]+, total;dur=[\d.]+$/,
    )
  })

  it('take a request id that is fit for a log, and no other', async () => {
    const { post } = testApp()
    const id = async (offered: string) => {
      const response = await post('/v1/count', '{"content":""}', { 'x-request-id': offered })
      return response.headers.get('x-request-id')
    }
    expect(await id('req-1.a:B_2')).toBe('req-1.a:B_2')
    expect(await id('has space')).not.toBe('has space')
    expect(await id('x'.repeat(129))).not.toContain('xxx')
  })

  it('give no two requests the same id', async () => {
    const { app } = testApp()
    const ids = await Promise.all(
      Array.from({ length: 100 }, async () =>
        (await app.request('/livez')).headers.get('x-request-id'),
      ),
    )
    expect(new Set(ids).size).toBe(100)
  })

  it('read and answer MessagePack', async () => {
    const { post } = testApp()
    const body = packr.pack({ content: 'ä b' }) as Uint8Array<ArrayBuffer>
    const response = await post('/v1/count', body, { 'content-type': 'application/msgpack' })
    expect(response.headers.get('content-type')).toBe('application/msgpack')
    const answer = packr.unpack(Buffer.from(await response.arrayBuffer()))
    expect(answer).toMatchObject({ tokens: 2 })
  })

  it('answer in what Accept prefers', async () => {
    const { post } = testApp()
    const media = async (accept: string) => {
      const response = await post('/v1/count', '{"content":""}', { accept })
      return response.headers.get('content-type')
    }
    expect(await media('application/msgpack')).toBe('application/msgpack')
    expect(await media('application/json;q=0.5, application/msgpack;q=0.9')).toBe(
      'application/msgpack',
    )
    expect(await media('application/msgpack;q=0.1, */*')).toBe('application/json')
    expect(await media('text/html')).toBe('application/json')
  })
})

describe('an unknown route', () => {
  it.each([
    ['/v1/messages', '/anthropic/v1/messages'],
    ['/v1/chat/completions', '/openai/v1/chat/completions'],
    ['/responses', '/openai/responses'],
  ])('names the prefix of its vendor: %s', async (path, expected) => {
    const response = await testApp().post(path, '{}')
    expect(response.status).toBe(404)
    expect((await response.json()) as object).toMatchObject({
      detail: expect.stringContaining(`at ${expected}:`),
    })
  })

  it('says nothing of others', async () => {
    const response = await testApp().post('/v1/x', '{}')
    expect(await response.json()).toMatchObject({ detail: 'no such route' })
  })
})

describe('malformed requests', () => {
  it.each([
    ['an empty body', '/v1/encode', '', 'application/json', 400, 'invalid_request'],
    ['truncated JSON', '/v1/encode', '{"content":', 'application/json', 400, 'invalid_request'],
    ['a wrong content type', '/v1/encode', '{}', 'text/plain', 415, 'unsupported_media_type'],
    [
      'a wrong type of a field',
      '/v1/encode',
      '{"content":1}',
      'application/json',
      400,
      'invalid_request',
    ],
    [
      'an unknown field',
      '/v1/decode',
      '{"content":"","format":"x","a":1}',
      'application/json',
      400,
      'invalid_request',
    ],
    [
      'a body that is too large',
      '/v1/encode',
      'x'.repeat(100_001),
      'application/json',
      413,
      'payload_too_large',
    ],
    [
      'text that is not of the format',
      '/v1/decode',
      '{"content":"","format":"csv@1"}',
      'application/json',
      422,
      'not_decodable',
    ],
    ['a route that is none', '/v1/nothing', '{}', 'application/json', 404, 'not_found'],
    ['a method that is not offered', '/livez', '{}', 'application/json', 405, 'method_not_allowed'],
  ])('%s', async (_, path, body, media, status, code) => {
    const { post } = testApp()
    const response = await post(path, body, { 'content-type': media })
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = (await response.json()) as { title: string; detail: string; request_id: string }
    expect(problem).toMatchObject({ code, status, type: `/problems/${code}` })
    expect(problem.request_id).toBe(response.headers.get('x-request-id'))
    const timing = response.headers.get('server-timing')
    expect(timing).toMatch(code === 'not_decodable' ? /queue;.*work;.*total;/ : /total;/)
    expect(problem.title.length * problem.detail.length).toBeGreaterThan(0)
    expect((await post('/v1/count', '{"content":"x"}')).status).toBe(200)
  })

  it('are refused by their announced length before the body is read', async () => {
    const unread = new ReadableStream({
      pull() {
        throw new Error('was read')
      },
    })
    const request = new Request('http://localhost/v1/encode', {
      method: 'POST',
      body: unread,
      duplex: 'half',
      headers: { 'content-type': 'application/json', 'content-length': '100001' },
    } as RequestInit)
    expect((await testApp().app.request(request)).status).toBe(413)
  })
})

describe('requests that HTTP would allow', () => {
  it('are told which method a route has', async () => {
    const { post, app } = testApp()
    expect((await post('/livez', '')).headers.get('allow')).toBe('GET')
    expect((await app.request('/v1/encode')).headers.get('allow')).toBe('POST')
  })

  it('are refused where the body is compressed', async () => {
    const { post } = testApp()
    for (const name of ['content-encoding', 'transfer-encoding']) {
      const refused = await post('/v1/count', '{"content":"x"}', { [name]: 'gzip, chunked' })
      expect(refused.status).toBe(415)
    }
  })

  it('are told while draining that the connection ends', async () => {
    const { app, post } = testApp({ health: { state: 'draining', store: async () => 'open' } })
    expect((await app.request('/livez')).headers.get('connection')).toBe('close')
    const answer = await post('/v1/count', '{"content":"x"}')
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  })
})

describe('a body that is not as long as announced', () => {
  it.each([
    ['shorter', 50],
    ['longer', 5],
  ])('is refused: %s', async (_, announced) => {
    const { post, admission } = testApp()
    const headers = { 'content-length': String(announced) }
    const response = await post('/v1/count', '{"content":"x"}', headers)
    expect([400, 413]).toContain(response.status)
    expect(admission.jobs).toBe(0)
  })
})

describe('overload', () => {
  it('is refused with Retry-After, and leaves no trace', async () => {
    const { post, admission } = testApp()
    const tickets = Array.from({ length: 10 }, () => admission.enter(LOCAL, 0))
    const refused = await post('/v1/count', '{"content":"x"}')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({ code: 'overloaded' })
    for (const ticket of tickets) ticket.leave()
    expect((await post('/v1/count', '{"content":"x"}')).status).toBe(200)
    expect([admission.jobs, admission.bytes]).toEqual([0, 0])
  })
})

describe('a web page in a browser', () => {
  const ask = async (headers: Record<string, string>) =>
    (await testApp().post('/v1/count', '{"content":"x"}', headers)).status

  it.each([
    ['localhost', 200],
    ['LOCALHOST:8787', 200],
    ['127.0.0.1:8787', 200],
    ['10.1.2.3', 200],
    ['[::1]:8787', 200],
    ['Haversack.internal:80', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['localhost.evil.example:80', 403],
    ['[evil]', 403],
  ])('that got the name %j to lead here: %i', async (host, status) => {
    expect(await ask({ host })).toBe(status)
  })

  it('reaches the service by its own pages only', async () => {
    const host = 'localhost:8787'
    expect(await ask({ host, origin: 'http://localhost:8787' })).toBe(200)
    for (const origin of ['http://evil.example', 'http://localhost:3000', 'null', '']) {
      expect(await ask({ host, origin })).toBe(403)
    }
    expect(await ask({ host: 'haversack.internal', origin: 'https://haversack.internal' })).toBe(
      200,
    )
    expect(await ask({ host: 'evil.example', origin: 'http://evil.example' })).toBe(403)
  })
})

describe('a bug', () => {
  it('is logged once and never shown', async () => {
    const bug = async () => {
      throw new TypeError('secret path')
    }
    const { post, logged } = testApp({ pool: { run: bug, runTwoPhase: bug } })
    const response = await post('/v1/count', '{"content":"x"}')
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
    expect(logged.filter(({ level }) => level === 'error')).toHaveLength(1)
  })
})

describe('operations', () => {
  it('livez is always 200, readyz follows the state', async () => {
    for (const [state, status] of [
      ['starting', 503],
      ['ready', 200],
      ['draining', 503],
    ] as const) {
      const { app } = testApp({ health: { state, store: async () => 'open' } })
      expect((await app.request('/livez')).status).toBe(200)
      const ready = await app.request('/readyz')
      expect([ready.status, await ready.text()]).toEqual([status, state])
    }
  })

  it.each([
    ['open', 200, 'ready'],
    ['salvaging', 200, 'ready; the store is being salvaged'],
    ['unavailable', 200, 'ready; the store cannot be opened'],
    ['away', 503, 'the store is away'],
  ] as const)('readyz says of a store that is %s: %i, %s', async (state, status, text) => {
    const { app } = testApp({ health: { state: 'ready', store: async () => state } })
    const ready = await app.request('/readyz')
    expect([ready.status, await ready.text()]).toEqual([status, text])
  })

  it('metrics tell routes, layers and refusals, and take no label from a client', async () => {
    const { app, post } = testApp()
    await post('/v1/encode', '{"content":"[{\\"a\\":1},  {\\"a\\":2}]"}')
    await post('/v1/decode', '{"content":"","format":"EVIL"}')
    await post('/v1/EVIL', '{}')
    const text = await (await app.request('/metrics')).text()
    expect(text).toContain('haversack_request_seconds_count{route="/v1/encode",status="200"} 1')
    expect(text).toContain('haversack_request_seconds_count{route="none",status="404"} 1')
    expect(text).toMatch(
      /haversack_results_total\{layer="L2",format="\w+@1",shape="array_of_objects"\} 1/,
    )
    expect(text).toContain('haversack_tokens_in_count 1')
    expect(text).toContain('haversack_errors_total{code="not_found"} 1')
    expect(text).toContain('haversack_errors_total{code="not_decodable"} 1')
    expect(text).not.toContain('EVIL')
  })

  it('openapi.json describes every route', async () => {
    const { app } = testApp()
    const document = (await (await app.request('/openapi.json')).json()) as OpenApiLike
    expect(Object.keys(document.paths).sort()).toEqual([
      '/livez',
      '/mcp',
      '/mcp/fingerprints/v1',
      '/mcp/fingerprints/v1/teams/{team}',
      '/mcp/fingerprints/v1/teams/{team}/members/{member}',
      '/mcp/servers/{name}',
      '/metrics',
      '/openapi.json',
      '/readyz',
      '/v1/arms',
      '/v1/batch',
      '/v1/compress',
      '/v1/config',
      '/v1/count',
      '/v1/decode',
      '/v1/dedup',
      '/v1/encode',
      '/v1/gain',
      '/v1/inputs',
      '/v1/knapsack',
      '/v1/plan',
      '/v1/retrieve/{hash}',
      '/v1/savings',
      '/v1/sessions/{id}',
      '/v1/sessions/{id}/compaction',
      '/v1/sessions/{id}/invalidate',
    ])
    const { requestBody } = document.paths['/v1/encode']!.post
    const { schema } = requestBody.content['application/json']!
    expect(Object.keys(schema.properties)).toContain('input_ref')
    expect(schema.additionalProperties).toBe(false)
  })
})

it('says what a proxy without an upstream lacks', async () => {
  const { app } = testApp()
  const response = await app.request('/openai/v1/responses', { method: 'POST' })
  expect(response.status).toBe(404)
  expect(await response.text()).toContain('HAVERSACK_OPENAI_URL')
})
