import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { json, startTestService } from '../../integration/service/harness.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { countRequest, dial, exchange, request } from '../../support/raw-http.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-overload-'))
afterAll(() => rmSync(folder, { recursive: true }))

const sockets = new Set<Socket>()
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets.clear()
})

/** A connection that sends `first` and then one byte after the other; what came until its end. */
function drip(url: string, first: string): Promise<string> {
  const socket = dial(url)
  sockets.add(socket)
  let got = ''
  socket.on('data', chunk => {
    got += chunk
  })
  // The service ends it while bytes are under way.
  socket.on('error', () => {})
  socket.write(first)
  const timer = setInterval(() => socket.write('x'), 50)
  return once(socket, 'close').then(() => {
    clearInterval(timer)
    return got
  })
}

/** An open connection that has sent `bytes`. */
async function open(url: string, bytes = ''): Promise<Socket> {
  const socket = dial(url)
  sockets.add(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(bytes)
  return socket
}

describe('a slow client', () => {
  let service: Awaited<ReturnType<typeof startTestService>>
  beforeAll(async () => {
    const settings = { workers: { count: 1 } }
    const limits = { headerMs: 1_000, requestMs: 1_500, idleMs: 1_000 }
    service = await startTestService(settings, { limits })
  })
  afterAll(() => service.close())

  it('is ended, wherever it is slow, and costs nobody else anything', async () => {
    const head = request([
      'POST /v1/count HTTP/1.1',
      'host: localhost',
      'content-type: application/json',
      'content-length: 1000000',
    ])
    const idle = await open(service.url, countRequest('a b'))
    const silent = await open(service.url)
    // The client is told when, and Node keeps to it.
    const told = await exchange(service.url, countRequest('a b'))
    expect(told.answers[0]?.headers['keep-alive']).toBe('timeout=1')
    const ends = Promise.all([
      drip(service.url, 'GET /livez HTTP/1.1\r\nhost: localhost\r\nx-a: '),
      drip(service.url, 'GET /'),
      drip(service.url, `${head}{"content":"`),
      once(idle.resume(), 'close'),
      once(silent.resume(), 'close'),
    ])
    expect(await json(service.post('/v1/count', '{"content":"a b"}'))).toMatchObject({ tokens: 2 })
    const [header, line, body] = await ends
    for (const got of [header, line, body]) {
      expect(got).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
      expect(got).toContain('application/problem+json')
    }
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain('haversack_protocol_errors_total{status="408"} ')
    expect(metrics).toContain('haversack_admitted_jobs 0\n')
    expect(metrics).toContain('haversack_admitted_bytes 0\n')
  })
})

describe('connections', () => {
  it('beyond the limit are closed, and a place that is left is free again', async () => {
    const service = await startTestService(
      { workers: { count: 1 }, limits: { drain_timeout_ms: 100 } },
      { limits: { connections: 3 } },
    )
    const held = await Promise.all([1, 2, 3].map(() => open(service.url)))
    const asked = async () =>
      (await exchange(service.url, countRequest('a b', 'connection: close'))).answers
    expect(await asked()).toEqual([])
    held[0]?.destroy()
    await eventually(async () => expect((await asked())[0]?.status).toBe(200))
    await service.close()
  })
})

describe('several tenants', () => {
  const [a, b] = [keyFor('a'), keyFor('b')]
  const narrow = keyFor('b', { max_concurrent: 1 })
  const admin = keyFor('ops', { scopes: ['metrics'] })
  let service: Awaited<ReturnType<typeof startTestService>>

  beforeAll(async () => {
    const keys_file = join(folder, 'keys.json')
    writeKeysFile(keys_file, a, b, narrow, admin)
    service = await startTestService(
      {
        keys_file,
        workers: { count: 1 },
        limits: { max_queue_wait_ms: 1, drain_timeout_ms: 500 },
      },
      { limits: { queueJobs: 8 } },
    )
  })
  afterAll(() => service.close())

  const gauge = async (name: string) => {
    const text = await (await fetch(`${service.url}/metrics`, admin)).text()
    return Number(new RegExp(`^haversack_${name} (\\d+)$`, 'm').exec(text)?.[1])
  }

  /** Takes a place by a request whose body never comes. */
  const hold = ({ key }: typeof a) =>
    open(
      service.url,
      request([
        'POST /v1/count HTTP/1.1',
        'host: localhost',
        'content-type: application/json',
        'content-length: 100',
        `x-api-key: ${key}`,
      ]),
    )
  const ask = ({ headers }: typeof a, content = 'a b') =>
    service.post('/v1/count', JSON.stringify({ content }), headers)

  it('do not keep each other out: one alone holds half', async () => {
    for (let i = 1; i <= 4; i++) {
      await hold(a)
      await eventually(async () => expect(await gauge('admitted_jobs')).toBe(i))
    }
    const refused = await ask(a)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({ code: 'rate_limited' })
    expect((await ask(b)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await eventually(async () => expect(await gauge('admitted_jobs')).toBe(0))
    expect((await ask(a)).status).toBe(200)
  })

  it('each have their keys’ own limits', async () => {
    await hold(narrow)
    await eventually(async () => expect(await gauge('admitted_jobs')).toBe(1))
    const refused = await ask(narrow)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await ask(b)).status).toBe(200)
  })

  it('that ask for more than there is are told when to come again, and none is lost', async () => {
    const content = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id })))
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => ask(i % 2 === 0 ? a : b, content)),
    )
    const by = Map.groupBy(answers, ({ status }) => status)
    expect([...by.keys()].filter(status => ![200, 429, 503].includes(status))).toEqual([])
    expect(by.get(200)?.length).toBeGreaterThan(0)
    expect(answers.length - (by.get(200)?.length ?? 0)).toBeGreaterThan(0)
    for (const answer of answers) {
      const retryAfter = answer.headers.get('retry-after')
      expect(retryAfter).toEqual(answer.status === 200 ? null : expect.stringMatching(/^\d+$/))
      await answer.arrayBuffer()
    }
    await eventually(async () => {
      expect(await gauge('admitted_jobs')).toBe(0)
      expect(await gauge('admitted_bytes')).toBe(0)
      expect(await gauge('waiting_jobs')).toBe(0)
    })
  })
})
