import { describe, expect, it } from 'vitest'
import { createEraDispatch } from '../../../../src/mcp/fronts/era-dispatch.ts'
import type { HttpExchange, HttpFront } from '../../../../src/mcp/fronts/http-exchange.ts'

const front = (name: string): HttpFront => ({
  answer: async () => ({ status: 200, headers: { front: name }, body: null }),
  close: async () => {},
})
const both = createEraDispatch({ legacy: front('legacy'), modern: front('modern') })

const exchange = (
  body: string,
  headers: Record<string, string> = {},
  method: HttpExchange['method'] = 'POST',
): HttpExchange => ({
  method,
  body: Buffer.from(body),
  header: name => headers[name] ?? null,
  caller: { tenant: 'a', credential: '' },
  signal: new AbortController().signal,
})

const NAME = 'io.modelcontextprotocol/protocolVersion'
const claim = (version: string, name = NAME) =>
  `{"jsonrpc":"2.0","id":3,"method":"x","params":{"_meta":{"${name}":"${version}"}}}`
const PING = '{"jsonrpc":"2.0","id":3,"method":"ping"}'
const MODERN = { 'mcp-protocol-version': '2026-07-28' }

describe('the era of a request', () => {
  it.each([
    ['legacy', exchange(PING)],
    ['legacy', exchange(PING, { 'mcp-protocol-version': '2025-11-25' })],
    ['legacy', exchange('{')],
    ['legacy', exchange(`[${claim('2026-07-28')}]`)],
    ['modern', exchange(claim('2026-07-28'))],
    ['modern', exchange(claim('1900-01-01'))],
    ['modern', exchange(claim('2026-07-28', NAME.replace('/', '\\/')))],
    ['modern', exchange(PING, MODERN)],
    ['legacy', exchange('', { ...MODERN, 'mcp-session-id': 'x' }, 'DELETE')],
  ])('is %s', async (expected, asked) => {
    expect((await both.answer(asked)).headers['front']).toBe(expected)
  })

  it('has no GET if it is modern', async () => {
    const reply = await both.answer(exchange('', MODERN, 'GET'))
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } })
  })

  it('is refused with the revisions that are served if it is not served', async () => {
    const one = createEraDispatch({ legacy: front('legacy'), modern: null })
    const { status, body } = await one.answer(exchange(claim('2026-07-28'), MODERN))
    expect(status).toBe(400)
    expect(JSON.parse(String(body))).toMatchObject({
      id: 3,
      error: {
        code: -32022,
        data: {
          requested: '2026-07-28',
          supported: ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
        },
      },
    })
  })
})
