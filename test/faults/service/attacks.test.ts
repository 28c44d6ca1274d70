import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startSmallService } from '../../integration/service/harness.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { countRequest, dial, exchange, type RawAnswer, request } from '../../support/raw-http.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-attacks-'))
const acme = keyFor('acme')
const metrics = keyFor('ops', { scopes: ['metrics'] })
const AUTH = `authorization: Bearer ${acme.key}`
const HEAD = [
  'POST /v1/count HTTP/1.1',
  'host: localhost',
  'content-type: application/json',
  AUTH,
] as const
const BODY = '{"content":"a b"}'
const LENGTH = `content-length: ${BODY.length}`
const CHUNKED = 'transfer-encoding: chunked'
const SIZE = BODY.length.toString(16)
const CHUNKS = `${SIZE}\r\n${BODY}\r\n0\r\n\r\n`
/** A request that a smuggler would hide; its route tells whether it was taken for one. */
const HIDDEN = request(['GET /openapi.json HTTP/1.1', 'host: localhost', AUTH])

let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  const keys_file = join(folder, 'keys.json')
  writeKeysFile(keys_file, acme, metrics)
  service = await startSmallService({
    keys_file,
    workers: { count: 1 },
    limits: { drain_timeout_ms: 500 },
  })
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

/** Whatever was sent, the service goes on, and nothing is left of it. */
afterEach(async () => {
  const { answers } = await exchange(service.url, countRequest('a b c', AUTH))
  expectTokens(answers[0], 3)
  await eventually(async () => {
    const text = await (await fetch(`${service.url}/metrics`, metrics)).text()
    expect(text).toContain('haversack_admitted_jobs 0\n')
    expect(text).toContain('haversack_admitted_bytes 0\n')
  })
})

function expectTokens(answer: RawAnswer | undefined, tokens: number): void {
  expect(answer?.status).toBe(200)
  expect(JSON.parse(answer?.body ?? '')).toMatchObject({ tokens })
}

/** A refusal that ends the connection, so that what follows is no request. */
function expectRefused(answers: readonly RawAnswer[], status: number): void {
  expect(answers).toHaveLength(1)
  expect(answers[0]).toMatchObject({ status, headers: { connection: 'close' } })
  expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({ status, code: 'invalid_request' })
}

describe('a request whose end two readers could see in different places', () => {
  it.each<[string, readonly string[], string]>([
    ['both lengths', [LENGTH, CHUNKED], CHUNKS],
    ['both lengths, chunked first', [CHUNKED, LENGTH], CHUNKS],
    ['two lengths', [LENGTH, 'content-length: 1'], BODY],
    ['two lengths that agree', [LENGTH, LENGTH], BODY],
    ['a list of lengths', [`${LENGTH}, ${BODY.length}`], BODY],
    ['a coding that is none', ['transfer-encoding: xchunked'], CHUNKS],
    ['chunked before another coding', ['transfer-encoding: chunked, identity'], CHUNKS],
    ['chunked twice', [CHUNKED, CHUNKED], CHUNKS],
    ['chunked behind a vertical tab', ['transfer-encoding: \x0bchunked'], CHUNKS],
    ['a length with a sign', [`content-length: +${BODY.length}`], BODY],
    ['a length below 0', ['content-length: -1'], BODY],
    ['a length in hexadecimal', ['content-length: 0x11'], BODY],
    ['a length with a space inside', ['content-length: 1 7'], BODY],
    ['an empty length', ['content-length: '], BODY],
    ['a length beyond 64 bits', ['content-length: 99999999999999999999'], BODY],
    ['a space before the colon', [`content-length : ${BODY.length}`], BODY],
    ['a folded header', ['x-a: b', ' c', LENGTH], BODY],
    ['a folded length', ['content-length:', ` ${BODY.length}`], BODY],
    ['a bare CR in a header', [`x-a: b\r${LENGTH}`], BODY],
    ['a bare LF in a header', [`x-a: b\n${LENGTH}`], BODY],
    ['a NUL in a header', ['x-a: b\0', LENGTH], BODY],
    ['a chunk size with a sign', [CHUNKED], `+${CHUNKS}`],
    ['a chunk size in C', [CHUNKED], `0x${CHUNKS}`],
    ['a chunk size beyond 64 bits', [CHUNKED], `fffffffffffffffff\r\n${BODY}\r\n0\r\n\r\n`],
    ['a chunk that ends in no CRLF', [CHUNKED], `${SIZE}\r\n${BODY}xx0\r\n\r\n`],
    ['a chunk size that ends in LF', [CHUNKED], `${SIZE}\n${BODY}\r\n0\r\n\r\n`],
    ['a chunk extension with LF', [CHUNKED], `${SIZE};a=b\n${BODY}\r\n0\r\n\r\n`],
    ['chunk extensions of 20 kB', [CHUNKED], `${SIZE};a=${'b'.repeat(20_000)}\r\n${BODY}\r\n`],
  ])('is refused: %s', async (_, headers, body) => {
    const { answers, rest } = await exchange(
      service.url,
      request([...HEAD, ...headers], body) + HIDDEN,
      2,
    )
    expectRefused(answers, 400)
    expect(rest).toBe('')
  })

  it('is refused where lines end in LF alone', async () => {
    const bytes = request([...HEAD, LENGTH], BODY).replaceAll('\r\n', '\n')
    expectRefused((await exchange(service.url, bytes + HIDDEN, 2)).answers, 400)
  })

  it('is its connection’s last where HTTP/1.0 sends chunks', async () => {
    const head = HEAD.map(line => line.replace('HTTP/1.1', 'HTTP/1.0'))
    const bytes = request([...head, CHUNKED], CHUNKS)
    const alone = await exchange(service.url, bytes, 2)
    expectTokens(alone.answers[0], 2)
    expect([alone.answers.length, alone.ended]).toEqual([1, true])
    const { answers, rest } = await exchange(service.url, bytes + HIDDEN, 2)
    expect([answers.length, rest]).toEqual([1, ''])
    expect(answers[0]?.body).not.toContain('openapi')
  })

  it('is read as it says where it says it once', async () => {
    for (const [headers, body] of [
      [[LENGTH], BODY],
      [[CHUNKED], CHUNKS],
      [['Transfer-Encoding: Chunked'], CHUNKS],
      [[CHUNKED], `${SIZE};name="value"\r\n${BODY}\r\n0;x\r\n\r\n`],
      [[CHUNKED, 'trailer: x-api-key'], `${SIZE}\r\n${BODY}\r\n0\r\nx-api-key: other\r\n\r\n`],
    ] as const) {
      const bytes = request([...HEAD, ...headers], body)
      const { answers } = await exchange(service.url, bytes + HIDDEN, 2)
      expectTokens(answers[0], 2)
      expect(answers[1]?.body).toContain('"openapi":"3.1.0"')
    }
  })

  it('does not hide a request in the body of one that is refused unread', async () => {
    const size = 300_000
    const smuggled = HIDDEN + ' '.repeat(size - HIDDEN.length)
    for (const [path, auth, status] of [
      ['/v1/count', 'authorization: Bearer wrong', 401],
      ['/nothing', AUTH, 404],
    ] as const) {
      const bytes = request(
        [`POST ${path} HTTP/1.1`, 'host: localhost', auth, `content-length: ${size}`],
        smuggled,
      )
      const { answers } = await exchange(service.url, bytes + countRequest('a b', AUTH), 2)
      expect(answers[0]?.status).toBe(status)
      expectTokens(answers[1], 2)
    }
  })
})

describe('a head that is too large', () => {
  it.each([
    ['1,000 headers', Array.from({ length: 1_000 }, (_, i) => `x-${i}: ${'v'.repeat(10)}`)],
    ['a header of 20 kB', [`x-a: ${'b'.repeat(20_000)}`]],
    ['a key of 20 kB', [`x-api-key: ${'b'.repeat(20_000)}`]],
  ])('is refused: %s', async (_, headers) => {
    const bytes = request([...HEAD, ...headers, LENGTH], BODY)
    expectRefused((await exchange(service.url, bytes)).answers, 431)
  })

  it('is refused: a path of 20 kB', async () => {
    const bytes = request([`GET /${'a'.repeat(20_000)} HTTP/1.1`, 'host: localhost'])
    expectRefused((await exchange(service.url, bytes)).answers, 431)
  })
})

describe('bytes that are no text', () => {
  it('are refused in a body', async () => {
    const bytes = Buffer.from(
      request([...HEAD, LENGTH], BODY.replace('a b', '\xff\xc0\xaf')),
      'latin1',
    )
    const { answers } = await exchange(service.url, bytes)
    expect(answers[0]?.status).toBe(400)
    expect(JSON.parse(answers[0]?.body ?? '')).toMatchObject({
      code: 'invalid_request',
      detail: 'the body is not valid UTF-8',
    })
  })

  it('are no request id and no key, and not answered back', async () => {
    const bytes = (header: string) =>
      Buffer.from(request([...HEAD.slice(0, 3), header, LENGTH], BODY), 'latin1')
    const key = await exchange(service.url, bytes('x-api-key: \xff\xfe'))
    expect(key.answers[0]?.status).toBe(401)
    const id = await exchange(service.url, bytes(`${AUTH}\r\nx-request-id: \xff\xfe`))
    expectTokens(id.answers[0], 2)
    expect(id.answers[0]?.headers['x-request-id']).toMatch(/^[\w-]+$/)
  })

  it.each([
    ['a NUL', '/livez\0'],
    ['Latin-1', '/\xe9'],
    ['a CR', '/livez\rx'],
  ])('are refused in a path: %s', async (_, path) => {
    const bytes = Buffer.from(request([`GET ${path} HTTP/1.1`, 'host: localhost']), 'latin1')
    expectRefused((await exchange(service.url, bytes)).answers, 400)
  })

  it.each(['/livez%00', '/%E0%A4%A', '/%', '/livez%2f', '//evil.example/livez'])(
    'are no route, however they are written: %s',
    async path => {
      const bytes = request([`GET ${path} HTTP/1.1`, 'host: localhost', AUTH])
      expect((await exchange(service.url, bytes)).answers[0]?.status).toBe(404)
    },
  )
})

describe('a path that leads elsewhere when it is made plain', () => {
  it.each(['/livez/../metrics', '/livez/%2e%2e/metrics', '/livez/..%2fmetrics', '/./metrics'])(
    'needs the key of where it leads: %s',
    async path => {
      const ask = async (auth: string) => {
        const bytes = request([`GET ${path} HTTP/1.1`, 'host: localhost', auth])
        return (await exchange(service.url, bytes)).answers[0]?.status
      }
      expect(await ask('x-a: b')).toBe(401)
      expect([403, 404]).toContain(await ask(AUTH))
    },
  )
})

describe('requests that HTTP allows and few send', () => {
  it('of the absolute form go by the Host header where names are checked', async () => {
    const ask = async (uri: string, host: string) => {
      const bytes = request([`GET ${uri} HTTP/1.1`, `host: ${host}`])
      return (await exchange(service.url, bytes)).answers[0]?.status
    }
    expect(await ask('http://localhost/livez', 'localhost')).toBe(200)
    expect(await ask('http://localhost/livez', 'evil.example')).toBe(403)
    expect(await ask('http://localhost/openapi.json', 'localhost')).toBe(401)
  })

  it('are answered as if they asked for no other protocol', async () => {
    for (const upgrade of ['h2c', 'websocket', 'TLS/1.0']) {
      const socket = dial(service.url)
      socket.write(
        request([
          'GET /livez HTTP/1.1',
          'host: localhost',
          'connection: upgrade, http2-settings',
          `upgrade: ${upgrade}`,
          'http2-settings: AAMAAABkAARAAAAAAAIAAAAA',
          'sec-websocket-version: 13',
          'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
        ]),
      )
      let got = ''
      for await (const chunk of socket) {
        got += chunk
        if (got.endsWith('\r\n\r\nok')) socket.write(countRequest('a b', AUTH))
        if (got.includes('"tokens":2')) break
      }
      expect(got).toMatch(/^HTTP\/1.1 200 OK\r\n/)
      expect(got).toContain('"tokens":2')
    }
  })

  it('unusual requests open no tunnel', async () => {
    const bytes = request(['CONNECT 127.0.0.1:22 HTTP/1.1', 'host: 127.0.0.1:22', AUTH])
    expect(await exchange(service.url, bytes)).toEqual({ answers: [], rest: '', ended: true })
  })

  it.each([
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00'],
    ['HTTP/1.2', 'GET /livez HTTP/1.2\r\nhost: localhost\r\n\r\n'],
    ['SSH', 'SSH-2.0-x\r\n'],
  ])('of another protocol are refused: %s', async (_, bytes) => {
    expectRefused((await exchange(service.url, Buffer.from(bytes, 'latin1'))).answers, 400)
  })

  it('behind one another are answered in order, each with its id', async () => {
    const count = 40
    const bytes = Array.from({ length: count }, (_, i) =>
      // Every third is refused on the main thread, before the jobs ahead of it are done.
      i % 3 === 2
        ? request([`GET /nothing HTTP/1.1`, 'host: localhost', AUTH, `x-request-id: r${i}`])
        : countRequest('a '.repeat(i + 1).trim(), AUTH, `x-request-id: r${i}`),
    )
    const { answers } = await exchange(service.url, bytes.join(''), count)
    expect(answers.map(({ headers }) => headers['x-request-id'])).toEqual(
      bytes.map((_, i) => `r${i}`),
    )
    answers.forEach((answer, i) => {
      if (i % 3 === 2) expect(answer.status).toBe(404)
      else expectTokens(answer, i + 1)
    })
  })

  it('that wait for leave to go on get it', async () => {
    const socket = dial(service.url)
    socket.write(request([...HEAD, LENGTH, 'expect: 100-continue']))
    let got = ''
    for await (const chunk of socket) {
      got += chunk
      if (got === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(BODY)
      if (got.includes('"tokens":2')) break
    }
    expect(got).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK\r\n/)
  })

  it('with garbage behind them are answered, and the garbage ends the connection', async () => {
    const { answers, rest, ended } = await exchange(
      service.url,
      `${countRequest('a b', AUTH)}garbage\r\n\r\n`,
      9,
    )
    expect([rest, ended]).toEqual(['', true])
    expect(answers.map(({ status }) => status)).toEqual([200])
  })

  it('name no key twice: X-Api-Key', async () => {
    const own = `x-api-key: ${acme.key}`
    const head = [...HEAD.slice(0, 3), LENGTH]
    for (const second of [`x-api-key: ${metrics.key}`, own]) {
      const { answers } = await exchange(service.url, request([...head, own, second], BODY))
      expect(answers[0]?.status).toBe(401)
    }
  })
})

describe('a header that must not come twice', () => {
  const ask = async (...head: readonly string[]) =>
    (await exchange(service.url, request([...head, LENGTH], BODY))).answers[0]?.status

  it.each([
    ['another key', `authorization: Bearer ${metrics.key}`],
    ['a wrong one', 'authorization: Bearer x'],
    ['another scheme', 'authorization: Basic eDp5'],
  ])('lets nobody in: Authorization, and %s', async (_, second) => {
    expect(await ask(...HEAD, second)).toBe(401)
  })

  it('lets nobody in: Host', async () => {
    expect([400, 403]).toContain(await ask(...HEAD, 'host: evil.example'))
  })
})

describe('what the parser lets through and the adapter does not', () => {
  it.each([
    ['a bad Host', ['GET /livez HTTP/1.1', 'host: a b']],
    ['a port that is none', ['GET /livez HTTP/1.1', 'host: localhost:99999']],
    ['a backslash', ['GET /a\\b HTTP/1.1', 'host: localhost']],
    ['another scheme', ['GET ftp://localhost/livez HTTP/1.1', 'host: localhost']],
    ['OPTIONS *', ['OPTIONS * HTTP/1.1', 'host: localhost']],
    ['no Host', ['GET /livez HTTP/1.1']],
    ['an expectation', ['GET /livez HTTP/1.1', 'host: localhost', 'expect: a miracle']],
  ])('is a problem like any other: %s', async (_, head) => {
    const [answer] = (await exchange(service.url, request(head))).answers
    expect(answer?.status).toBeGreaterThanOrEqual(400)
    expect(answer?.headers['content-type']).toBe('application/problem+json')
  })
})

describe('labels of metrics', () => {
  it('are none that a client can choose', async () => {
    const series = async () => {
      const text = await (await fetch(`${service.url}/metrics`, metrics)).text()
      return (
        text
          .split('\n')
          // Node's own resources come and go.
          .filter(line => line !== '' && !/^#|_nodejs_(active|gc)_/.test(line))
          .map(line => line.slice(0, line.lastIndexOf(' ')))
      )
    }
    const attack = (i: number) => [
      request([`GET /random-${i} HTTP/1.1`, 'host: localhost', AUTH]),
      request([`PURGE /v1/count HTTP/1.1`, 'host: localhost', AUTH]),
      request([`GET /metrics?x=${i} HTTP/1.1`, 'host: localhost', `x-api-key: wrong-${i}`]),
      request([`GET /livez HTTP/1.1`, `host: evil-${i}.example`]),
      request([...HEAD, 'content-length: 2', `accept: x/y${i}`], '{}'),
      countRequest('a', AUTH, `x-request-id: id-${i}`, `user-agent: agent-${i}`),
      `evil-${i} x\r\n\r\n`,
    ]
    const run = (i: number) => Promise.all(attack(i).map(bytes => exchange(service.url, bytes)))
    await run(0)
    await series()
    const before = await series()
    for (let i = 1; i <= 20; i++) await run(i)
    const after = await series()
    expect(after).toEqual(before)
    expect(after.join('\n')).not.toMatch(/random|wrong|evil|agent|id-|PURGE/)
  })
})
