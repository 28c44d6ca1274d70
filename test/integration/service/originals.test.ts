import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpack } from 'msgpackr'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { json, startSmallService } from './harness.ts'

type TestService = Awaited<ReturnType<typeof startSmallService>>

const folder = mkdtempSync(join(tmpdir(), 'haversack-originals-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const scopes = ['encode', 'retrieve'] as const
const acme = keyFor('acme', { scopes: [...scopes] })
const beta = keyFor('beta', { scopes: [...scopes] })
const meter = keyFor('meter', { scopes: ['metrics'] })
writeKeysFile(join(folder, 'keys.json'), acme, beta, meter)

/** Far below the default: counting the tokens of large bodies is most of what the tests here cost. */
const MAX_BODY_BYTES = 2 * 1024 * 1024

const SECRET = Buffer.alloc(32, 7).toString('base64')
const settings = {
  workers: { count: 1 },
  data_dir: join(folder, 'data'),
  keys_file: join(folder, 'keys.json'),
  limits: { max_body_bytes: MAX_BODY_BYTES },
  store: {
    encryption_keys: [`k1:${SECRET}`],
  },
}

let service: TestService
beforeAll(async () => {
  service = await startSmallService(settings)
})
afterAll(() => service.close())

type Caller = { readonly key: string }

const headersOf = ({ key }: Caller): Record<string, string> => ({ 'x-api-key': key })

async function keep(content: string, caller: Caller = acme): Promise<string> {
  const answer = await json(
    service.post('/v1/inputs', JSON.stringify({ content }), headersOf(caller)),
  )
  expect(answer).toMatchObject({ input_ref: expect.stringMatching(/^[0-9a-f]{24}$/) })
  return String(answer['input_ref'])
}

const retrieve = (hash: string, query = '', caller: Caller = acme, accept = 'application/json') =>
  fetch(`${service.url}/v1/retrieve/${hash}${query}`, {
    headers: { ...headersOf(caller), accept },
  })

const records = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id, name: `n${id}` })))

describe('an input that was kept', () => {
  it('stands for the content that it was', async () => {
    const input_ref = await keep(records)
    const encode = (fields: object) =>
      json(service.post('/v1/encode', JSON.stringify(fields), headersOf(acme)))
    const answer = await encode({ input_ref })
    expect(answer).toEqual(await encode({ content: records }))
    expect(answer).toMatchObject({ format: 'csv@1' })
  })

  it('may be one of a batch, whose other jobs do not suffer where it is none', async () => {
    const input_ref = await keep(records)
    const jobs = [
      { op: 'encode', input_ref },
      { op: 'encode', input_ref: 'f'.repeat(24) },
      { op: 'encode', input_ref, content: 'x' },
      { op: 'count', content: 'a b' },
      { op: 'encode', input_ref },
    ]
    const { results } = await json(
      service.post('/v1/batch', JSON.stringify({ jobs }), headersOf(acme)),
    )
    expect(results).toMatchObject([
      { ok: true, format: 'csv@1' },
      { ok: false, problem: { code: 'not_found' } },
      { ok: false, problem: { code: 'invalid_request' } },
      { ok: true, tokens: 2 },
      { ok: true, format: 'csv@1' },
    ])
  })

  it('takes room for each use of it', async () => {
    const BYTES = 25_000
    const input_ref = await keep('z'.repeat(BYTES))
    const jobs = Array.from({ length: 200 }, () => ({ op: 'encode', input_ref }))
    const { results } = (await json(
      service.post('/v1/batch', JSON.stringify({ jobs }), headersOf(acme)),
    )) as { results: { ok: boolean; problem?: { code: string } }[] }
    const room = Math.floor(MAX_BODY_BYTES / BYTES)
    expect(results.filter(({ ok }) => ok)).toHaveLength(room)
    expect(results[room]?.problem?.code).toBe('payload_too_large')
  })

  it('takes no more room than a body may, however many share it', async () => {
    const input_ref = await keep('x'.repeat(1_200_000))
    const other = await keep('y'.repeat(1_200_000))
    const ask = (refs: readonly string[]) =>
      json(
        service.post(
          '/v1/batch',
          JSON.stringify({ jobs: refs.map(ref => ({ op: 'encode', input_ref: ref })) }),
          headersOf(acme),
        ),
      )
    expect(await ask([input_ref, other])).toMatchObject({
      results: [{ ok: true }, { ok: false, problem: { code: 'payload_too_large' } }],
    })
  })

  it.each([
    ['no content and no reference', {}],
    ['both', { content: 'x', input_ref: 'f'.repeat(24) }],
  ])('is refused with %s', async (_, fields) => {
    const response = await service.post('/v1/encode', JSON.stringify(fields), headersOf(acme))
    expect(response.status).toBe(400)
  })
})

describe('an original comes back as it was', () => {
  it.each([
    ['empty', ''],
    ['short', 'a\nb\n'],
    ['with a byte order mark and NUL', '\uFEFFa\0b'],
    ['with lone surrogates', 'a\uD800b\uDC00'],
    ['long, of one, two, three and four bytes a character', 'aé–😀'.repeat(40_000)],
    ['long, with lone surrogates', `\uD83D${'x😀'.repeat(50_000)}`],
  ])('%s', async (_, content) => {
    const hash = await keep(content)
    const whole = await json(retrieve(hash))
    expect(whole['original_content'] === content).toBe(true)
    expect(whole).toMatchObject({ hash, media_type: expect.stringMatching(/^text\/plain/) })
    const packed = await retrieve(hash, '', acme, 'application/msgpack')
    const bytes = Buffer.from(await packed.arrayBuffer())
    const isPacked = packed.headers.get('content-type') === 'application/msgpack'
    expect(isPacked).toBe(content.isWellFormed())
    const { original_content } = isPacked ? unpack(bytes) : JSON.parse(bytes.toString())
    expect(original_content === content).toBe(true)
  })

  it.each([
    ['?lines=2-3', 'two\nthree\n', { kind: 'lines', first: 2, last: 3, total: 4 }],
    ['?bytes=0-2', 'one', { kind: 'bytes', first: 0, last: 2, total: 19 }],
    ['?grep=ee', '3:three\n', { kind: 'grep', matches: 1, shown: 1 }],
  ])('in part: %s', async (query, content, part) => {
    const hash = await keep('one\ntwo\nthree\nfour\n')
    expect(await json(retrieve(hash, query))).toMatchObject({
      original_content: content,
      part,
      bytes: 19,
    })
  })

  it('in whole characters where a range of bytes cuts some', async () => {
    const hash = await keep('aé–😀b')
    expect(await json(retrieve(hash, '?bytes=2-8'))).toMatchObject({
      original_content: '–',
      part: { kind: 'bytes', first: 3, last: 5, total: 11 },
    })
  })

  it('in part, by a path of its JSON', async () => {
    const hash = await keep('{"items":[{"n":1.0},{"n":12345678901234567890}]}')
    expect(await json(retrieve(hash, '?path=$.items[1].n'))).toMatchObject({
      original_content: '12345678901234567890',
    })
  })

  it.each([
    '?lines=9-1',
    '?lines=400-',
    '?path=$.[',
    '?grep=',
    '?lines=1&bytes=1',
    '?lines=1&lines=2',
    '?line=1',
    '?context=3',
  ])('not at all where the part is none: %s', async query => {
    const response = await retrieve(await keep('one\ntwo\n'), query)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_request' })
  })
})

describe('what is not there', () => {
  it('is the same for an unknown hash and for one of another tenant', async () => {
    const hash = await keep('only of acme')
    const answers = await Promise.all(
      [hash, 'f'.repeat(24)].map(async ref => {
        const { request_id: _, detail, ...problem } = await json(retrieve(ref, '', beta))
        return { ...problem, detail: String(detail).replace(ref, 'REF') }
      }),
    )
    expect(answers[0]).toMatchObject({ code: 'not_found', status: 404 })
    expect(answers[1]).toEqual(answers[0])
  })

  it('is gone where it has expired', async () => {
    const brief = await startSmallService({
      data_dir: join(folder, 'brief'),
      store: { original_ttl_ms: 1_000 },
    })
    onTestFinished(() => brief.close())
    const post = brief.post('/v1/inputs', JSON.stringify({ content: 'soon forgotten' }))
    const { input_ref } = await json(post)
    // To ask for it would prolong its life.
    const expired = async () => {
      const metrics = await fetch(`${brief.url}/metrics`)
      return Number(/event="expired"} (\d+)/.exec(await metrics.text())?.[1])
    }
    await eventually(async () => expect(await expired()).toBeGreaterThan(0))
    expect((await fetch(`${brief.url}/v1/retrieve/${input_ref}`)).status).toBe(410)
  })

  it('lives on from each time that it is asked for', async () => {
    const hash = await keep('not forgotten')
    const expiry = async () => (await json(retrieve(hash)))['expires_at']
    const first = await expiry()
    await eventually(async () => expect(await expiry()).toBeGreaterThan(first as number))
  })

  it.each(['', 'x', 'zzzz'.repeat(6), 'f'.repeat(65), '%00', '../livez'])(
    'has no answer but a problem: %j',
    async hash => {
      const response = await retrieve(hash)
      expect([400, 404]).toContain(response.status)
    },
  )
})

it('outlives the service, and cannot be read in its file', async () => {
  const content = `needle ${'in a haystack '.repeat(10)}`
  const hash = await keep(content)
  await service.close()
  const file = readFileSync(join(folder, 'data', 'store.sqlite'))
  expect(file.includes('in a haystack')).toBe(false)
  service = await startSmallService(settings)
  expect(await json(retrieve(hash))).toMatchObject({ original_content: content })
})

it('of one tenant leaves room for the answers of others, however slowly it is read', async () => {
  const body = 'slow '.repeat(200_000)
  const narrow = await startSmallService(
    {
      ...settings,
      data_dir: join(folder, 'narrow'),
      limits: { max_body_bytes: 2_000_000 },
    },
    { limits: { queueBytes: () => 8_000_000 } },
  )
  const post = (content: string, caller: Caller) =>
    json(narrow.post('/v1/inputs', JSON.stringify({ content }), headersOf(caller)))
  const { input_ref } = await post(body, acme)
  const other = await post('of beta', beta)
  const readers = Array.from({ length: 30 }, () => {
    const socket = connect(Number(new URL(narrow.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `GET /v1/retrieve/${input_ref} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${acme.key}\r\n\r\n`,
    )
    return socket
  })
  const metric = async (name: string) => {
    const text = await (await fetch(`${narrow.url}/metrics`, { headers: headersOf(meter) })).text()
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }
  const isAdmitted = async () =>
    expect(await metric('haversack_admitted_bytes')).toBeGreaterThan(2_000_000)
  await eventually(isAdmitted)
  expect(await metric('haversack_admitted_bytes')).toBeLessThan(5_500_000)
  for (const path of [`/v1/retrieve/${other['input_ref']}`, '/openapi.json']) {
    expect((await fetch(narrow.url + path, { headers: headersOf(beta) })).status).toBe(200)
  }
  for (const socket of readers) socket.destroy()
  await narrow.close()
})
