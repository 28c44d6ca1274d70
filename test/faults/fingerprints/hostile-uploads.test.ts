import { afterAll, beforeAll, expect, it } from 'vitest'
import { json, startSmallService } from '../../integration/service/harness.ts'
import { runs } from '../../support/runs.ts'
import { row as fixedRow } from '../../unit/fingerprints/rows.ts'

const TEAM = '/mcp/fingerprints/v1/teams/backend'
const DAY = 86_400_000
const UPLOADS = runs(300)

const row: typeof fixedRow = overrides =>
  fixedRow({ first_seen_ms: Date.now() - 10 * DAY, last_seen_ms: Date.now() - DAY, ...overrides })
const evil = () => row({ endpoint_class: 'evil', source_sessions: 99 })

let service: Awaited<ReturnType<typeof startSmallService>>
beforeAll(async () => {
  service = await startSmallService({ workers: { count: 1 } })
})
afterAll(() => service.close())

interface Upload {
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly type: string
}

/** Texts with a bit changed, or cut; rows with values of other kinds; bytes that are no format. */
function hostileUpload(index: number): Upload {
  const file = new Uint8Array(Buffer.from(JSON.stringify({ member: 'eve', endpoints: [evil()] })))
  const at = (index * 7919) % file.length
  switch (index % 5) {
    case 0:
      file[at] = file[at]! ^ (1 << (index % 8))
      return { body: file, type: 'json' }
    case 1:
      return { body: file.slice(0, at), type: 'json' }
    case 2: {
      const names = Object.keys(evil())
      const values = [null, -1, 1e308, '\u0000', [], { toString: 1 }, 'x'.repeat(9_999)]
      const changed = { ...evil(), [names[index % names.length]!]: values[index % values.length] }
      return { body: JSON.stringify({ member: 'eve', endpoints: [changed] }), type: 'json' }
    }
    case 3:
      return { body: `{"member":"eve","endpoints":${'['.repeat(index * 50)}`, type: 'json' }
    default:
      return { body: Uint8Array.from(file, byte => byte ^ index), type: 'msgpack' }
  }
}

it('merges what honest members sent, while others send what is wrong in every format', async () => {
  const honest = ['ada', 'bob', 'cleo'].map(member =>
    service.post(TEAM, JSON.stringify({ member, endpoints: [row()] })),
  )
  for (const answer of await Promise.all(honest)) expect(answer.status).toBe(200)

  const statuses: number[] = []
  const sendAll = async (from: number) => {
    for (let index = from; index < UPLOADS; index += 4) {
      const { body, type } = hostileUpload(index)
      const headers = { 'content-type': `application/${type}` }
      statuses.push((await service.post(TEAM, body, headers)).status)
    }
  }
  let sent = false
  const senders = Promise.all([0, 1, 2, 3].map(sendAll)).then(() => {
    sent = true
  })
  let reads = 0
  do {
    const { fingerprints } = (await json(fetch(service.url + TEAM))) as {
      fingerprints: { endpoint_class: string; source_sessions: number; call_count: number }[]
    }
    const ours = fingerprints.find(each => each.endpoint_class === 'git_log')
    expect(ours).toMatchObject({ source_sessions: 36, call_count: 180 })
    reads++
  } while (!sent)
  await senders

  expect(statuses).toHaveLength(UPLOADS)
  // A changed bit may leave a file that is good; nothing is the service's own fault.
  for (const status of statuses) expect([200, 400, 413, 415]).toContain(status)
  expect(statuses.filter(status => status === 400).length).toBeGreaterThan(UPLOADS / 2)
  expect(reads).toBeGreaterThan(0)
})
