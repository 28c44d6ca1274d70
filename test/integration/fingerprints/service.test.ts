import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/core/fingerprints/fingerprint.ts'
import { endpointClass } from '../../../src/core/telemetry/endpoint-class.ts'
import { row as fixedRow } from '../../unit/fingerprints/rows.ts'
import { json, startSmallService } from '../service/harness.ts'
import { eventsOf, writeEvents } from './telemetry-events.ts'

const TEAMS = '/mcp/fingerprints/v1/teams/'
const DAY = 86_400_000

const row: typeof fixedRow = overrides =>
  fixedRow({
    first_seen_ms: Date.now() - 10 * DAY,
    last_seen_ms: Date.now() - DAY,
    ...overrides,
  })

let service: Awaited<ReturnType<typeof startSmallService>>

describe('a team of a running service', () => {
  beforeAll(async () => {
    service = await startSmallService()
  })
  afterAll(() => service.close())
  const upload = (team: string, member: string, endpoints: readonly unknown[]) =>
    service.post(TEAMS + team, JSON.stringify({ member, endpoints }))

  it('is kept by the store, and merged in a thread', async () => {
    const uploads = ['ada', 'bob', 'eve'].map(member => upload('merged', member, [row()]))
    for (const answer of await Promise.all(uploads)) expect(answer.status).toBe(200)
    const document = await json(fetch(`${service.url}${TEAMS}merged`))
    expect(document['fingerprints']).toMatchObject([{ source_sessions: 36, stale: false }])
  })

  it('keeps every one of uploads at once, and counts the last of each member', async () => {
    const members = Array.from({ length: 12 }, (_, index) => `m${index % 4}`)
    const grown = members.map((member, index) =>
      upload('at-once', member, [
        row({
          source_sessions: 10 + 6 * Math.floor(index / 4),
          last_seen_ms: Date.now() - DAY + index,
        }),
      ]),
    )
    for (const answer of await Promise.all(grown)) expect(answer.status).toBe(200)
    const document = await json(fetch(`${service.url}${TEAMS}at-once`))
    const [{ source_sessions }] = document['fingerprints'] as [{ source_sessions: number }]
    // Whichever came last of each: with 10, 16 or 22 sessions.
    expect(source_sessions).toBeGreaterThanOrEqual(40)
    expect(source_sessions).toBeLessThanOrEqual(88)
  })

  it('takes the most rows of one upload, and no more', async () => {
    const rows = Array.from({ length: LIMITS.rows }, (_, index) =>
      row({ endpoint_class: `endpoint_${index}` }),
    )
    expect(await json(upload('large', 'ada', rows))).toMatchObject({
      accepted: LIMITS.rows,
      refused: [],
    })
    const more = await upload('large', 'ada', [...rows, row()])
    expect([more.status, await more.json()]).toMatchObject([
      400,
      { errors: [{ path: 'endpoints' }] },
    ])
  })
})

describe('what a service publishes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-published-'))
  afterAll(async () => {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is built from its telemetry: closed spans of endpoints that match, of five sessions or more', async () => {
    writeEvents(folder, 'local', [
      ...eventsOf('mcp__gitlab__get_issue', 6),
      ...eventsOf('mcp__gitlab__list_issues', 4),
      ...eventsOf('mcp__jira__get_issue', 9),
    ])
    service = await startSmallService({
      data_dir: folder,
      telemetry: { sample_rate: 1 },
      fingerprints: { publish: ['mcp__gitlab__*', 'team:clients'] },
    })
    const path = '/mcp/fingerprints/v1'
    const published = async () => json(fetch(service.url + path))
    await expect.poll(async () => (await published())['fingerprints']).toHaveLength(1)
    const [found] = (await published())['fingerprints'] as [Record<string, unknown>]
    const name = endpointClass('mcp__gitlab__get_issue', {})
    expect(found).toMatchObject({ endpoint_class: name, source_sessions: 6, call_count: 12 })
    const response = await fetch(`${service.url}${path}?endpoint_class=${name}`)
    expect(response.headers.get('cache-control')).toBe('private, max-age=300')
    const etag = response.headers.get('etag') ?? ''
    expect(await response.json()).toMatchObject({ k: 5, window_days: 30, fingerprints: [found] })
    const again = await fetch(response.url, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    expect(await json(fetch(`${service.url}${path}?endpoint_class=curl`))).toMatchObject({
      fingerprints: [],
    })
    expect((await fetch(`${service.url}${path}?endpoint_class=../x`)).status).toBe(400)
  })
})
