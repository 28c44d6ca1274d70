import { Packr } from 'msgpackr'
import { beforeEach, describe, expect, it } from 'vitest'
import { createAccess } from '../../../src/access/access.ts'
import type { Fingerprint } from '../../../src/core/fingerprints/fingerprint.ts'
import { fingerprintsToParquet } from '../../../src/fingerprints/parquet-file.ts'
import { createPublished } from '../../../src/fingerprints/published.ts'
import { Teams } from '../../../src/fingerprints/teams.ts'
import { testApp } from '../../support/app.ts'
import { keyFor } from '../../support/keys.ts'
import { DAY, inlineThread, memoryRecords, NOW, row } from './rows.ts'

const TEAM = '/mcp/fingerprints/v1/teams/backend'
const PARQUET = 'application/vnd.apache.parquet'
const packr = new Packr({ useRecords: false })

let clock: { now: number }
let records: ReturnType<typeof memoryRecords>
let tested: ReturnType<typeof testApp>
const keys = {
  acme: keyFor('acme', { scopes: ['fingerprints:read', 'fingerprints:write'] }),
  other: keyFor('other', { scopes: ['fingerprints:read', 'fingerprints:write'] }),
  reader: keyFor('acme', { scopes: ['fingerprints:read'] }),
  writer: keyFor('acme', { scopes: ['fingerprints:write'] }),
  client: keyFor('acme', {
    scopes: ['fingerprints:read', 'fingerprints:write'],
    teams: ['backend', 'clients'],
    member: 'ada',
  }),
}

beforeEach(() => {
  clock = { now: NOW }
  records = memoryRecords()
  const options = { thread: inlineThread, now: () => clock.now }
  tested = testApp({
    maxBodyBytes: 500_000,
    access: createAccess(
      Object.values(keys).map(({ record }) => record),
      () => 0,
    ),
    fingerprints: {
      teams: new Teams({ ...options, store: records }),
      published: createPublished({ ...options, folderOf: () => null, patterns: () => ['*'] }),
      close: async () => {},
    },
  })
})

const as = (who: keyof typeof keys) => ({ 'x-api-key': keys[who].key })
const upload = (member: string, endpoints: readonly unknown[], who: keyof typeof keys = 'acme') =>
  tested.post(TEAM, JSON.stringify({ member, window_days: 30, endpoints }), as(who))
const get = (headers: Record<string, string> = {}, path = TEAM) =>
  tested.app.request(path, { headers: { ...as('acme'), ...headers } })
const withdraw = (member: string, who: keyof typeof keys = 'acme') =>
  tested.app.request(`${TEAM}/members/${member}`, { method: 'DELETE', headers: as(who) })

type Document = { fingerprints: (Fingerprint & { stale: boolean })[]; [key: string]: unknown }
async function merged(): Promise<Document> {
  const response = await get()
  expect(response.status).toBe(200)
  return (await response.json()) as Document
}

describe('a team', () => {
  it('gets its members’ uploads together, weighted by sessions, with nobody’s name', async () => {
    const answer = await upload('ada', [row({ source_sessions: 30, avg_response_chars: 100 })])
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      team: 'backend',
      member: 'ada',
      accepted: 1,
      refused: [],
      expires_at: NOW + 14 * DAY,
    })
    await upload('bob', [row({ source_sessions: 10, avg_response_chars: 500 })])
    const document = await merged()
    expect(document).toMatchObject({ version: 1, k: 5, window_days: 30, team: 'backend' })
    expect(document.fingerprints).toMatchObject([
      { source_sessions: 40, call_count: 120, avg_response_chars: 200, stale: false },
    ])
    expect(JSON.stringify(document)).not.toMatch(/ada|bob|member/)
  })

  it('counts a member’s later upload in place of the earlier one', async () => {
    await upload('ada', [row()])
    await upload('ada', [row()])
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 12 }])
    const grown = row({ source_sessions: 20, last_seen_ms: NOW })
    await upload('ada', [grown])
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 20 }])
  })

  it('takes JSON and MessagePack, refuses Parquet, and gives all three', async () => {
    await upload('ada', [row()])
    const body = packr.pack({ member: 'bob', endpoints: [row()] })
    const sent = await tested.post(TEAM, new Uint8Array(body), {
      ...as('acme'),
      'content-type': 'application/msgpack',
    })
    expect(sent.status).toBe(200)
    const file = new Uint8Array(fingerprintsToParquet([row()]))
    const third = await tested.post(TEAM, file, { ...as('acme'), 'content-type': PARQUET })
    expect([third.status, await third.json()]).toMatchObject([
      415,
      { detail: expect.stringContaining('haversack fingerprints push') },
    ])
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 24 }])
    const packed = await get({ accept: 'application/msgpack' })
    expect(packed.headers.get('content-type')).toBe('application/msgpack')
    const asParquet = await get({ accept: PARQUET })
    expect(asParquet.headers.get('content-type')).toBe(PARQUET)
    expect(
      Buffer.from(await asParquet.arrayBuffer())
        .subarray(0, 4)
        .toString(),
    ).toBe('PAR1')
  })

  it.each([
    [PARQUET, PARQUET],
    [`application/json, ${PARQUET}`, PARQUET],
    [`*/*, ${PARQUET};q=0.5`, PARQUET],
    [`${PARQUET};q=0.5, application/json`, 'application/json'],
    [`${PARQUET};q=0, */*`, 'application/json'],
    [`${PARQUET};q=0.1, application/msgpack;q=0.2`, 'application/msgpack'],
    ['image/png', 'application/json'],
  ])('gives for %s what is wanted most: %s', async (accept, type) => {
    await upload('ada', [row()])
    const answer = await get({ accept })
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.headers.get('vary')).toContain('Accept')
    const head = await tested.app.request(TEAM, {
      method: 'HEAD',
      headers: { ...as('acme'), accept },
    })
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([
      200,
      answer.headers.get('etag'),
      '',
    ])
  })

  it('tells the same version only once', async () => {
    await upload('ada', [row()])
    const first = await get()
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('cache-control')).toBe('private, no-cache')
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await get({ 'if-none-match': known })
      expect([again.status, await again.text()]).toEqual([304, ''])
      expect(again.headers.get('etag')).toBe(etag)
    }
    expect((await get({ 'if-none-match': etag, accept: PARQUET })).status).toBe(200)
    await upload('bob', [row()])
    expect((await get({ 'if-none-match': etag })).status).toBe(200)
  })

  it('does not exist for others', async () => {
    await upload('ada', [row()])
    for (const path of [TEAM, TEAM.replace('backend', 'unknown')]) {
      const response = await tested.app.request(path, { headers: as('other') })
      expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
    }
    expect((await withdraw('ada', 'other')).status).toBe(404)
    expect(
      (await upload('ada', [row({ source_sessions: 50, call_count: 99 })], 'other')).status,
    ).toBe(200)
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 12 }])
  })

  it('needs a key with the scope', async () => {
    expect((await upload('ada', [row()], 'reader')).status).toBe(403)
    expect((await upload('ada', [row()], 'writer')).status).toBe(200)
    expect((await get(as('writer'))).status).toBe(403)
    expect((await get(as('reader'))).status).toBe(200)
    expect((await withdraw('ada', 'reader')).status).toBe(403)
    expect((await tested.app.request(TEAM)).status).toBe(401)
  })

  it('forgets a withdrawn upload, and is gone with the last one', async () => {
    await upload('ada', [row()])
    await upload('bob', [row()])
    const answer = await withdraw('ada')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { team: 'backend', member: 'ada', withdrawn: true },
    ])
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 12 }])
    expect((await withdraw('ada')).status).toBe(404)
    expect((await withdraw('bob')).status).toBe(200)
    expect((await get()).status).toBe(404)
  })

  it('puts endpoints last that nobody uploaded in 14 days, and drops them after 30', async () => {
    await upload('ada', [row(), row({ endpoint_class: 'curl' })])
    clock.now = NOW + 10 * DAY
    const moved = { first_seen_ms: NOW + DAY, last_seen_ms: NOW + 9 * DAY }
    await upload('bob', [row({ ...moved, avg_response_chars: 1 })])
    clock.now = NOW + 15 * DAY
    expect((await merged()).fingerprints).toMatchObject([
      { endpoint_class: 'git_log', stale: false, avg_response_chars: 1, source_sessions: 12 },
      { endpoint_class: 'curl', stale: true, source_sessions: 12 },
    ])
    clock.now = NOW + 31 * DAY
    expect((await merged()).fingerprints).toMatchObject([
      { endpoint_class: 'git_log', stale: true },
    ])
  })

  it('refuses rows one by one, and says which', async () => {
    const few = row({ endpoint_class: 'curl', source_sessions: 3 })
    const answer = await (await upload('ada', [few, row()])).json()
    expect(answer).toMatchObject({
      accepted: 1,
      refused: [{ endpoint_class: 'curl', reason: 'below_k' }],
    })
    expect(JSON.stringify(await merged())).not.toContain('curl')
  })
})

describe('a key of certain teams, and of one member', () => {
  const OTHER = TEAM.replace('backend', 'frontend')
  const to = (team: string, member: string) =>
    tested.post(team, JSON.stringify({ member, endpoints: [row()] }), as('client'))
  const remove = (team: string, member: string) =>
    tested.app.request(`${team}/members/${member}`, { method: 'DELETE', headers: as('client') })

  it('reads and writes in them, as that member', async () => {
    await upload('bob', [row()])
    expect((await to(TEAM, 'ada')).status).toBe(200)
    expect((await get(as('client'))).status).toBe(200)
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 24 }])
    expect((await remove(TEAM, 'ada')).status).toBe(200)
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 12 }])
  })

  it('cannot tell another team from one that does not exist, nor look at the store for it', async () => {
    const body = JSON.stringify({ member: 'ada', endpoints: [row()] })
    await tested.post(OTHER, body, as('acme'))
    const known = records.size()
    const answers = await Promise.all(
      [OTHER, TEAM.replace('backend', 'none')].flatMap(team => [
        get(as('client'), team),
        to(team, 'ada'),
        remove(team, 'ada'),
      ]),
    )
    for (const answer of answers) {
      expect([answer.status, await answer.json()]).toMatchObject([
        404,
        { code: 'not_found', detail: 'no such team is known' },
      ])
    }
    expect(records.size()).toBe(known)
  })

  it('is nobody else: it uploads nothing and withdraws nothing of others', async () => {
    await upload('bob', [row()])
    const known = records.size()
    for (const member of ['bob', 'none']) {
      expect((await to(TEAM, member)).status).toBe(404)
      expect((await remove(TEAM, member)).status).toBe(404)
    }
    expect((await merged()).fingerprints).toMatchObject([{ source_sessions: 12 }])
    expect(records.size()).toBe(known)
  })
})

describe('what is no upload', () => {
  it.each([
    ['a member that is a path', { member: '../../etc/passwd', endpoints: [] }, 'member'],
    ['a member without a name', { member: '', endpoints: [] }, 'member'],
    ['another version', { version: 2, member: 'ada', endpoints: [] }, 'version'],
    ['a window above 30 days', { member: 'ada', window_days: 90, endpoints: [] }, 'window_days'],
    ['an unknown field', { member: 'ada', endpoints: [], prompts: [] }, 'prompts'],
    ['no endpoints', { member: 'ada' }, 'endpoints'],
  ])('is refused: %s', async (_, body, path) => {
    const response = await tested.post(TEAM, JSON.stringify(body), as('acme'))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalid_request', errors: [{ path }] })
    expect(records.size()).toBe(0)
  })

  it.each([
    ['a negative count', { call_count: -1 }],
    ['a count that is no whole number', { call_count: 60.5 }],
    ['fewer calls than sessions', { call_count: 3 }],
    ['a rate above 1', { dup_rate: 1.01 }],
    ['NaN', { avg_response_chars: Number.NaN }],
    ['infinity', { avg_response_chars: Number.POSITIVE_INFINITY }],
    ['shares that do not add up', { shape_mix: { prose: 0.5 } }],
    ['an unknown shape', { shape_mix: { prose: 0.5, poem: 0.5 } }],
    ['too much entropy', { format_entropy: 5 }],
    ['times the wrong way round', { first_seen_ms: NOW, last_seen_ms: NOW - 1 }],
    ['a path as endpoint', { endpoint_class: '/home/ada/secret' }],
    ['an unknown inner format', { inner_formats_top3: ['novel'] }],
  ])('is refused whole for a row with %s', async (_, wrong) => {
    const rows = [row(), { ...row({ endpoint_class: 'curl' }), ...wrong }]
    const body = packr.pack({ member: 'ada', endpoints: rows })
    const response = await tested.post(TEAM, new Uint8Array(body), {
      ...as('acme'),
      'content-type': 'application/msgpack',
    })
    expect(response.status).toBe(400)
    expect(records.size()).toBe(0)
  })

  it('is refused where it is too large, packed, or for a team that is a path', async () => {
    const large = `{"member":"ada","endpoints":[${' '.repeat(500_000)}]}`
    expect((await tested.post(TEAM, large, as('acme'))).status).toBe(413)
    const packed = { ...as('acme'), 'content-encoding': 'gzip' }
    expect((await tested.post(TEAM, '{}', packed)).status).toBe(415)
    expect((await get({}, '/mcp/fingerprints/v1/teams/..%2f..%2fx')).status).toBe(400)
  })
})
