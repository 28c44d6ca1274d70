import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadTelemetryKey } from '../../../src/book/events/key-file.ts'
import { dayOf } from '../../../src/core/fingerprints/fingerprint.ts'
import { endpointClass } from '../../../src/core/telemetry/endpoint-class.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { fingerprintsFolder, SPANS_FILE } from '../../../src/fingerprints/folder-files.ts'
import { writeFingerprintFile } from '../../../src/fingerprints/span-file.ts'
import { captureCli } from '../../support/capture.ts'
import { FULL_RUNS } from '../../support/runs.ts'
import { DAY, row } from '../../unit/fingerprints/rows.ts'
import { json, startSmallService } from '../service/harness.ts'
import { eventsOf, writeEvents } from './telemetry-events.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-fingerprints-'))
const config = join(folder, 'haversack.toml')
const data = join(folder, 'data')
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  service = await startSmallService({ workers: { count: 1 } })
  writeEvents(data, 'local', [
    ...eventsOf('mcp__gitlab__get_issue', 12),
    ...eventsOf('Read', 15),
    ...eventsOf('Grep', 4),
  ])
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The command on a data folder with such settings. */
async function fingerprints(settings: string, ...args: string[]) {
  writeFileSync(config, settings)
  vi.stubEnv('HAVERSACK_CONFIG', config)
  vi.stubEnv('HAVERSACK_KEY', 'own-secret')
  vi.stubEnv('HAVERSACK_DATA_DIR', data)
  try {
    return await captureCli('fingerprints', ...args)
  } finally {
    vi.unstubAllEnvs()
  }
}

const place = (team: string) => `url = "${service.url}"\nteam = "${team}"\n`
const TEAM = () => `[fingerprints.team]\n${place('backend')}`
const PROVIDER = () => `[fingerprints.providers.gitlab]\n${place('clients')}servers = ["gitlab"]\n`
const uploaded = (team: string) => fetch(`${service.url}/mcp/fingerprints/v1/teams/${team}`)

describe('the fingerprints command', () => {
  it('builds, shows, shares what it may, and fetches it back', async () => {
    expect(await fingerprints('', 'build')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/3 endpoints of 62 events, 2 spans that may be shared\n$/),
    })
    const shown = JSON.parse((await fingerprints('', 'show', '--json')).stdout)
    const names = shown.fingerprints.map((each: { endpoint_class: string }) => each.endpoint_class)
    expect(names).toEqual(['Grep', 'Read', endpointClass('mcp__gitlab__get_issue', {})])
    expect((await fingerprints('', 'show')).stdout).toMatch(/^endpoint +calls +sessions/)

    // Nothing leaves without a word for it: neither a team nor a provider that is only named.
    const unshared = await fingerprints(TEAM() + PROVIDER(), 'push')
    expect(unshared).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing is shared'),
    })
    for (const team of ['backend', 'clients']) expect((await uploaded(team)).status).toBe(404)

    const shares = `[fingerprints]\nshare_endpoints_with_team = true\n[fingerprints.share_with_provider]\ngitlab = true\n`
    const consent = shares + TEAM() + PROVIDER()
    const dry = JSON.parse((await fingerprints(consent, 'push', '--dry-run')).stdout)
    expect(
      dry.map((each: { name: string; rows: unknown[] }) => [each.name, each.rows.length]),
    ).toEqual([
      ['team backend', 2],
      ['provider gitlab', 1],
    ])
    expect((await uploaded('backend')).status).toBe(404)

    expect((await fingerprints(consent, 'push')).stdout).toBe(
      'team backend: 2 accepted\nprovider gitlab: 1 accepted\n',
    )
    expect((await json(uploaded('backend')))['fingerprints']).toHaveLength(2)
    expect(await json(uploaded('clients'))).toMatchObject({
      fingerprints: [{ endpoint_class: endpointClass('mcp__gitlab__get_issue', {}) }],
    })

    expect(await fingerprints(consent, 'pull')).toMatchObject({
      code: 0,
      stdout: 'team backend: 2 endpoints\nprovider gitlab: 0 endpoints\n',
    })
    expect(readdirSync(join(data, 'fingerprints')).length).toBe(1)
    const blended = JSON.parse((await fingerprints(consent, 'show', '--blended', '--json')).stdout)
    const read = blended.blended.find(
      (each: { endpoint_class: string }) => each.endpoint_class === 'Read',
    )
    expect(read.weights).toEqual({ own: expect.closeTo(0.3), team: 0.7, provider: 0 })
  })

  it('says what is missing', async () => {
    expect(await fingerprints('', 'pull')).toMatchObject({ code: 2 })
    expect(await fingerprints('', 'dance')).toMatchObject({ code: 2 })
    const nofile = `${PROVIDER()}key_file = "/none"\n`
    expect(await fingerprints(nofile, 'pull')).toMatchObject({
      code: 1,
      stderr: 'haversack: fingerprints.providers.gitlab.key_file: /none cannot be read\n',
    })
  })

  it('fetches into an empty folder, and from the others where one does not answer', async () => {
    const empty = join(folder, 'empty')
    const nowhere = '[fingerprints.team]\nurl = "http://127.0.0.1:9"\nteam = "backend"\n'
    expect(await fingerprints(nowhere + PROVIDER(), 'pull', '--data', empty)).toEqual({
      code: 1,
      stdout: 'provider gitlab: 0 endpoints\n',
      stderr: 'haversack: http://127.0.0.1:9 gives no answer: bad port\n',
    })
    expect(await fingerprints('', 'show', '--blended', '--data', empty)).toMatchObject({ code: 0 })
  })

  it('shows no key, and gives that of one’s own service to no provider', async () => {
    await fingerprints('', 'build')
    const asked: (string | string[] | undefined)[] = []
    const server = createServer((request, response) => {
      asked.push(request.headers['x-api-key'])
      response.statusCode = 502
      response.end('<html>\u001b[2J')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const at = `url = "http://127.0.0.1:${port}"\nteam = "t"\n`
    const settings = `[fingerprints]\nshare_endpoints_with_team = true\n[fingerprints.share_with_provider]\ngitlab = true\n[fingerprints.team]\n${at}[fingerprints.providers.gitlab]\n${at}servers = ["gitlab"]\n`
    try {
      const problem = `haversack: http://127.0.0.1:${port}: 502, and no JSON\n`
      for (const action of ['push', 'pull']) {
        expect(await fingerprints(settings, action)).toEqual({
          code: 1,
          stdout: '',
          stderr: problem + problem,
        })
      }
      expect(asked).toEqual(['own-secret', undefined, 'own-secret', undefined])
      const dry = (await fingerprints(settings, 'push', '--dry-run')).stdout
      expect(dry).toContain('mcp__')
      expect(dry).not.toContain('secret')
    } finally {
      server.close()
    }
  })

  it('shares endpoints with all spans of a window, as many as an upload takes', async () => {
    const endpoints = FULL_RUNS ? 2_100 : 60
    const sent = Math.min(endpoints, 2_000)
    const large = join(folder, 'large')
    const own = join(
      fingerprintsFolder(large),
      tenantFolder(loadTelemetryKey(large), 'local'),
      SPANS_FILE,
    )
    const today = dayOf(Date.now())
    const spans = Array.from({ length: 5 * endpoints }, (_, index) =>
      row({
        endpoint_class: `mcp__p1a2b3c__get_something_${index % endpoints}`,
        source_sessions: index % endpoints < endpoints - sent ? 5 : 9,
        first_seen_ms: today - (6 * Math.floor(index / endpoints) + 5) * DAY,
        last_seen_ms: today - 6 * Math.floor(index / endpoints) * DAY,
      }),
    )
    await writeFingerprintFile(own, spans)
    const settings = `[fingerprints]\nshare_endpoints_with_team = true\n[fingerprints.team]\n${place('large')}`
    const rest = FULL_RUNS ? ', 500 not sent (too many for one upload)' : ''
    for (let time = 0; time < 2; time += 1) {
      expect(await fingerprints(settings, 'push', '--data', large)).toEqual({
        code: 0,
        stdout: `team large: ${5 * sent} accepted${rest}\n`,
        stderr: '',
      })
    }
    const { fingerprints: merged } = await json(uploaded('large'))
    expect(merged).toHaveLength(sent)
    expect(merged).toMatchObject(Array(sent).fill({ source_sessions: 45, call_count: 300 }))
  })
})
