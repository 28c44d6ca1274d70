import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { dial, message } from '../proxy/stand-in.ts'
import { json, startSmallService } from './harness.ts'
import { answerOk, type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

type TestService = Awaited<ReturnType<typeof startSmallService>>

const folder = mkdtempSync(join(tmpdir(), 'haversack-forwarding-'))
const agent = keyFor('team', { scopes: ['proxy'] })
const encoder = keyFor('team', { scopes: ['encode'] })

let upstream: RecordingUpstream
let open: TestService
let closed: TestService

beforeAll(async () => {
  upstream = await recordingUpstream()
  const keys_file = join(folder, 'keys.json')
  writeKeysFile(keys_file, agent, encoder)
  const workers = { count: 1 }
  open = await startSmallService({ workers, proxy: { anthropic_url: upstream.url } })
  closed = await startSmallService({ workers, keys_file, proxy: { openai_url: upstream.url } })
})

beforeEach(() => upstream.answerWith(answerOk))

afterAll(async () => {
  await Promise.all([open.close(), closed.close()])
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const host = (service: TestService) => new URL(service.url).host

/** The value of a header that the upstream was sent. */
function sent(name: string): string | undefined {
  const { rawHeaders } = upstream.last()
  const at = rawHeaders.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name)
  return at === -1 ? undefined : rawHeaders[at + 1]
}

describe('the routes of a configured vendor', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])(
    'forward %s',
    async method => {
      const body = method === 'GET' || method === 'HEAD' ? null : 'a\u0000b'
      const response = await fetch(`${open.url}/anthropic/v1/any/%2Fpath?q=1&q=%20`, {
        method,
        body,
      })
      expect(response.status).toBe(200)
      expect(response.headers.get('request-id')).toBe('req_1')
      expect(Number(response.headers.get('x-haversack-added-ms'))).toBeGreaterThan(0)
      expect(await response.text()).toBe(method === 'HEAD' ? '' : '{"ok": true}')
      expect(upstream.last().line).toBe(`${method} /v1/any/%2Fpath?q=1&q=%20`)
      expect(upstream.last().body.toString()).toBe(body ?? '')
    },
  )

  it('are none for a vendor without an upstream', async () => {
    const response = await fetch(`${open.url}/openai/v1/models`)
    expect([response.status, (await json(response))['code']]).toEqual([404, 'not_found'])
    expect(upstream.requests).toEqual([])
  })

  it('pass credentials on, and keep what is for us', async () => {
    const headers = {
      authorization: 'Bearer sk-theirs',
      'x-api-key': 'another',
      'anthropic-beta': 'a,b',
      'x-haversack-key': 'ours',
      'x-haversack-bypass': 'true',
    }
    await fetch(`${open.url}/anthropic/v1/models`, { headers })
    expect(sent('authorization')).toBe('Bearer sk-theirs')
    expect(sent('x-api-key')).toBe('another')
    expect(sent('anthropic-beta')).toBe('a,b')
    expect(upstream.last().rawHeaders.join()).not.toMatch(/haversack|ours/i)
  })

  it('pass errors on with their headers', async () => {
    upstream.answerWith(response => {
      response.writeHead(529, { 'retry-after': '7', 'content-type': 'application/json' })
      response.end('{"type":"error","error":{"type":"overloaded_error"}}')
    })
    const response = await fetch(`${open.url}/anthropic/v1/messages`, { method: 'POST', body: '{' })
    expect([response.status, response.headers.get('retry-after')]).toEqual([529, '7'])
    expect(await response.text()).toBe('{"type":"error","error":{"type":"overloaded_error"}}')
  })

  it('say in the words of the vendor that there is no upstream', async () => {
    const proxy = { anthropic_url: 'http://127.0.0.1:1' }
    const service = await startSmallService({ workers: { count: 1 }, proxy })
    try {
      const response = await fetch(`${service.url}/anthropic/v1/models`)
      expect(response.status).toBe(502)
      expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    } finally {
      await service.close()
    }
  })

  it('pass the parts of a stream on as they come', async () => {
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
      next = () => response.end('data: 2\n\n')
    })
    let next = () => {}
    const response = await fetch(`${open.url}/anthropic/v1/messages`, {
      method: 'POST',
      body: '{}',
    })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe('data: 1\n\n')
    next()
    expect((await reader.read()).value).toBe('data: 2\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  it('tell the upstream when the client has left', async () => {
    const left = Promise.withResolvers<void>()
    upstream.answerWith(response => {
      response.once('close', left.resolve)
      response.writeHead(200)
      response.write('begun')
    })
    const abort = new AbortController()
    const { signal } = abort
    const response = await fetch(`${open.url}/anthropic/v1/messages`, { signal })
    expect(response.status).toBe(200)
    abort.abort()
    await left.promise
  })

  it('let the upstream decide whether a body is sent', async () => {
    const request = httpRequest(`${open.url}/anthropic/v1/files`, {
      method: 'POST',
      headers: { expect: '100-continue', 'content-length': 3 },
    })
    request.flushHeaders()
    await new Promise(resolve => request.once('continue', resolve))
    const status = new Promise(resolve =>
      request.once('response', ({ statusCode }) => resolve(statusCode)),
    )
    request.end('abc')
    expect(await status).toBe(200)
    expect(upstream.last().body.toString()).toBe('abc')
  })

  it.each([
    '/anthropic/../v1/models',
    'http://example.test/anthropic/v1/models',
    '/v1/%2e%2e/anthropic/x',
  ])('forward no target that is not below the prefix as sent: %s', async target => {
    const wire = dial(
      new URL(open.url),
      message([`GET ${target} HTTP/1.1`, `Host: ${host(open)}`, 'Connection: close']),
    )
    expect(await wire.all()).toMatch(/^HTTP\/1\.1 40[34] /)
    expect(upstream.requests).toEqual([])
  })

  it('refuse what a web page sent, and a Host that is another name', async () => {
    const page = await fetch(`${open.url}/anthropic/v1/models`, {
      headers: { origin: 'https://a.test' },
    })
    expect(page.status).toBe(403)
    expect(await page.json()).toMatchObject({ type: 'error', error: { type: 'permission_error' } })
    expect(upstream.requests).toEqual([])
  })
})

const UPGRADE = ['Connection: Upgrade', 'Upgrade: echo']

describe('an upgrade', () => {
  it('an upgrade becomes a tunnel for bytes', async () => {
    const wire = dial(
      new URL(open.url),
      message(['GET /anthropic/v1/live HTTP/1.1', `Host: ${host(open)}`, ...UPGRADE], 'early'),
    )
    expect(await wire.until('early')).toMatch(/^HTTP\/1\.1 101 /)
    wire.socket.write('late')
    await wire.until('late')
    expect(upstream.last().line).toBe('UPGRADE /v1/live')
  })

  it.each([
    ['without a key', [], 401],
    ['with a key for something else', [`X-Haversack-Key: ${encoder.key}`], 403],
  ])('is refused %s', async (_, headers, status) => {
    const head = ['GET /openai/v1/live HTTP/1.1', `Host: ${host(closed)}`, ...UPGRADE, ...headers]
    const wire = dial(new URL(closed.url), message(head))
    const answer = await wire.all()
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    expect(answer).toContain('"error":{"message":')
    expect(upstream.requests).toEqual([])
  })

  it('is passed over on other routes, as before', async () => {
    const head = ['GET /livez HTTP/1.1', `Host: ${host(open)}`, ...UPGRADE, 'Connection: close']
    expect(await dial(new URL(open.url), message(head)).all()).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('does not hold up the end of the service', async () => {
    const proxy = { anthropic_url: upstream.url }
    const limits = { drain_timeout_ms: 1 }
    const service = await startSmallService({ workers: { count: 1 }, proxy, limits })
    const head = ['GET /anthropic/v1/live HTTP/1.1', `Host: ${host(service)}`, ...UPGRADE]
    const wire = dial(new URL(service.url), message(head))
    await wire.until('101')
    await service.close()
    await wire.all()
  })
})

describe('where there are keys', () => {
  const get = (headers: Record<string, string>) =>
    fetch(`${closed.url}/openai/v1/models`, {
      headers: { authorization: 'Bearer sk-theirs', ...headers },
    })

  it('lets a key for proxies pass, and does not pass it on', async () => {
    expect((await get({ 'x-haversack-key': agent.key })).status).toBe(200)
    expect(sent('authorization')).toBe('Bearer sk-theirs')
    expect(upstream.last().rawHeaders.join()).not.toContain(agent.key)
  })

  it.each<[string, Record<string, string>, number, string]>([
    ['no key', {}, 401, 'authentication_error'],
    [
      'a key in the place of the vendor’s',
      { authorization: `Bearer ${agent.key}` },
      401,
      'authentication_error',
    ],
    ['a key for something else', { 'x-haversack-key': encoder.key }, 403, 'permission_error'],
    ['two keys', { 'x-haversack-key': `${agent.key}, ${agent.key}` }, 401, 'authentication_error'],
  ])('refuses %s', async (_, headers, status, type) => {
    const response = await get(headers)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { type } })
    expect(upstream.requests).toEqual([])
  })
})
