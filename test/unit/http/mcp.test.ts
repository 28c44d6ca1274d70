import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/base/errors.ts'
import { LEGEND } from '../../../src/core/reading/legend.ts'
import type { AppDeps } from '../../../src/http/context.ts'
import { testApp } from '../../support/app.ts'

const TEXT = Array.from(
  { length: 50 },
  (_, i) => `line ${i + 1}: ${i % 10 === 0 ? 'ERROR' : 'ok'}`,
).join('\n')
const HASH = 'abcdef0123456789abcdef01'
const ABOUT = { hash: HASH, media_type: 'text/plain', bytes: 0, created_at: 0, expires_at: 1 }

/** Keeps one text, for one tenant. */
const originals = (size = TEXT.length): AppDeps['originals'] => {
  const check = (tenant: string, ref: string) => {
    if (tenant !== 'local' || ref !== HASH)
      throw new AppError('not_found', 'nothing is kept under it')
  }
  return {
    ...testApp().deps.originals,
    async fetch({ tenant, ref }, claim) {
      check(tenant, ref)
      claim(size)
      return { ...ABOUT, body: Buffer.from(TEXT) }
    },
    async fetchPart({ tenant, ref }, selector) {
      check(tenant, ref)
      if (selector.kind === 'lines') {
        const content = Buffer.alloc(size, 'x')
        return { ...ABOUT, part: { kind: 'lines', content, first: 1, last: 1, total: 1 } }
      }
      const lines = TEXT.split('\n')
      if (selector.kind !== 'grep') throw new Error('the test greps only')
      const content = Buffer.from(lines.filter(line => line.includes(selector.text)).join('\n'))
      return { ...ABOUT, part: { kind: 'grep', content, matches: 5, shown: 5 } }
    },
  }
}

const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

function server(given = originals()) {
  const { post, app } = testApp({ originals: given })
  const send = async (message: unknown, headers: Record<string, string> = {}) => {
    const response = await post('/mcp', JSON.stringify(message), headers)
    const text = await response.text()
    return { status: response.status, answer: text === '' ? null : JSON.parse(text) }
  }
  const call = async (args: object) => {
    const params = { name: 'haversack_retrieve', arguments: args }
    const { answer } = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    return answer.result
  }
  return { app, post, send, call }
}

describe('/mcp', () => {
  it('shakes hands with clients of earlier revisions, in their version', async () => {
    const { send } = server()
    for (const [asked, agreed] of [
      ['2025-06-18', '2025-06-18'],
      ['2030-01-01', '2025-11-25'],
    ]) {
      const params = { protocolVersion: asked, capabilities: {}, clientInfo: {} }
      const { answer } = await send({ jsonrpc: '2.0', id: 'a', method: 'initialize', params })
      expect(answer).toMatchObject({ id: 'a', result: { protocolVersion: agreed } })
    }
    const done = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect(done).toEqual({ status: 202, answer: null })
  })

  it('offers one tool, in at most 205 tokens', async () => {
    const { send, post } = server()
    const { answer } = await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(answer.result.tools.map((tool: { name: string }) => tool.name)).toEqual([
      'haversack_retrieve',
    ])
    const { _meta, ...shown } = answer.result.tools[0]
    const count = await post('/v1/count', JSON.stringify({ content: JSON.stringify(shown) }))
    expect(((await count.json()) as { tokens: number }).tokens).toBeLessThanOrEqual(205)
  })

  it('says in its description how results are to be read, if it is to', async () => {
    const { post } = testApp({ originals: originals(), legend: LEGEND })
    const listed = async (send: typeof post) => {
      const response = await send('/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
      return JSON.parse(await response.text()).result.tools[0]
    }
    const [without, tool] = [await listed(server().post), await listed(post)]
    expect(tool).toEqual({ ...without, description: `${without.description} ${LEGEND}` })
  })

  it('gives an original, or a part of it', async () => {
    const { call } = server()
    expect(await call({ hash: HASH })).toEqual({ content: [{ type: 'text', text: TEXT }] })
    const errors = await call({ hash: HASH, grep: 'ERROR', context: 0, ignore_case: 'false' })
    expect(errors.content[0].text.split('\n')).toHaveLength(5)
  })

  it.each([
    ['another hash', { hash: '000000000000000000000000' }, /nothing is kept.*another tool/],
    ['no hash', {}, /hash/],
    ['two parts at once', { hash: HASH, grep: 'a', lines: '1-2' }, /cannot be combined/],
    ['an unknown argument', { hash: HASH, any: true }, /any/],
  ])('tells the model what is wrong: %s', async (_, args, message) => {
    const result = await server().call(args)
    expect(result.isError).toBe(true)
    expect(result.content[0].text).toMatch(message)
  })

  it('asks for parts of an original that is too large for a client', async () => {
    const result = await server(originals(1_000_000)).call({ hash: HASH })
    expect(result).toMatchObject({ isError: true })
    expect(result.content[0].text).toContain('1000000 bytes')
  })

  it('keeps the ids of requests as they came', async () => {
    const { post } = server()
    const body = '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}'
    const response = await post('/mcp', body)
    expect(await response.text()).toBe('{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}')
  })

  it.each([
    ['no JSON', '{', 400, -32700],
    ['a batch', '[]', 400, -32600],
    ['another method', '{"jsonrpc":"2.0","id":1,"method":"prompts/list"}', 200, -32601],
    [
      'another tool',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}',
      200,
      -32602,
    ],
  ])('refuses %s', async (_, body, status, code) => {
    const response = await server().post('/mcp', body)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { code } })
  })

  it('answers nothing but POST', async () => {
    expect((await server().app.request('/mcp')).status).toBe(405)
  })
})

describe('/mcp without a handshake', () => {
  const request = (method: string, params: object = {}) => ({
    jsonrpc: '2.0',
    id: 7,
    method,
    params: { ...params, _meta: MODERN_META },
  })
  const headers = (method: string, name?: string) => ({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  })

  it('says what it is', async () => {
    const { answer } = await server().send(request('server/discover'), headers('server/discover'))
    expect(answer.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'haversack' } },
    })
  })

  it('lists and calls its tool', async () => {
    const { send } = server()
    const list = await send(request('tools/list'), headers('tools/list'))
    expect(list.answer.result).toMatchObject({ resultType: 'complete', cacheScope: 'public' })
    const params = { name: 'haversack_retrieve', arguments: { hash: HASH } }
    const { answer } = await send(
      request('tools/call', params),
      headers('tools/call', 'haversack_retrieve'),
    )
    expect(answer.result).toMatchObject({ resultType: 'complete', content: [{ text: TEXT }] })
  })

  it.each([
    ['a header that is missing', request('tools/list'), {}, 400, -32020],
    ['another method in the header', request('tools/list'), headers('tools/call'), 400, -32020],
    [
      'another name in the header',
      request('tools/call', { name: 'haversack_retrieve' }),
      headers('tools/call', 'other'),
      400,
      -32020,
    ],
    [
      'no capabilities',
      {
        ...request('tools/list'),
        params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
      },
      headers('tools/list'),
      400,
      -32602,
    ],
    [
      'another version',
      {
        ...request('tools/list'),
        params: {
          _meta: { ...MODERN_META, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' },
        },
      },
      { 'mcp-method': 'tools/list', 'mcp-protocol-version': '2031-01-01' },
      400,
      -32022,
    ],
    ['a method of earlier revisions', request('ping'), headers('ping'), 404, -32601],
  ])('refuses %s', async (_, message, sent, status, code) => {
    const refused = await server().send(message, sent)
    expect(refused).toMatchObject({ status, answer: { id: 7, error: { code } } })
  })
})
