import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTelemetryKey } from '../../../src/book/events/key-file.ts'
import { newSegment, segmentFile, telemetryFolder } from '../../../src/book/events/layout.ts'
import { processEnv } from '../../../src/config/env.ts'
import { endpointClass } from '../../../src/core/telemetry/endpoint-class.ts'
import type { TelemetryEvent } from '../../../src/core/telemetry/event.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { fingerprintsFolder, SPANS_FILE } from '../../../src/fingerprints/folder-files.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../../support/service-process.ts'
import { eventOf } from '../../unit/core/telemetry/events.ts'

const BASE = fileURLToPath(new URL('../../support/service-process.toml', import.meta.url))
const DAY = 86_400_000
const TOOL = 'Bash'

describe.skipIf(processEnv()['TEST_WITHOUT_REDIS'] === '1')('three replicas', () => {
  const root = mkdtempSync(join(tmpdir(), 'haversack-fingerprints-'))
  const folders = [0, 1, 2].map(i => join(root, `data-${i}`))
  const config = join(root, 'config.toml')
  let redis: RedisProcess
  let replicas: readonly ServiceProcess[]
  const start = (folder: string) =>
    startProcess({
      env: {
        HAVERSACK_REDIS_URL: redis.url,
        HAVERSACK_CONFIG: config,
        HAVERSACK_DATA_DIR: folder,
      },
    })

  beforeAll(async () => {
    redis = await startRedis()
    const settings = [
      '[store.redis]',
      'call_timeout_ms = 10_000',
      '[telemetry]',
      'enabled = true',
      '[fingerprints]',
      'build_interval_ms = 2_000',
      'publish = ["*"]',
    ]
    writeFileSync(config, `${readFileSync(BASE, 'utf8')}\n${settings.join('\n')}\n`)
    replicas = await Promise.all(folders.map(start))
  })
  afterAll(async () => {
    killProcesses()
    await redis.stop()
    rmSync(root, { recursive: true, force: true })
  })

  const endpoint_class = endpointClass(TOOL, {})

  /** A session that had a turn on each of the replicas. */
  function turnsEverywhere(session: number): void {
    for (const [i, folder] of folders.entries()) {
      const key = readTelemetryKey(folder)!
      const own = join(telemetryFolder(folder), tenantFolder(key, 'local'))
      const session_hash = session.toString(16).padStart(16, 'a')
      const ts_ms = Date.now() - DAY - i
      const event: TelemetryEvent = eventOf({ endpoint_class, session_hash, ts_ms })
      const file = segmentFile(own, newSegment(session_hash, ts_ms), false)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `${JSON.stringify(event)}\n`)
    }
  }

  async function published(replica: ServiceProcess) {
    const answer = await fetch(`${replica.url}/mcp/fingerprints/v1`)
    const { fingerprints } = (await answer.json()) as {
      fingerprints: readonly { call_count: number; source_sessions: number }[]
    }
    return fingerprints.map(({ call_count, source_sessions }) => ({ call_count, source_sessions }))
  }
  const everywhere = () => Promise.all(replicas.map(published))
  const builds = () =>
    replicas.flatMap(replica => replica.log().filter(({ msg }) => msg === 'fingerprints built'))

  test('count a session once, wherever its turns were, and publish the same', async () => {
    for (let session = 0; session < 4; session++) turnsEverywhere(session)
    const before = builds().length
    // Four sessions on three replicas are twelve parts of sessions, and must not pass for five.
    await eventually(() => expect(builds().length).toBeGreaterThan(before + 1), 50)
    expect(await everywhere()).toEqual([[], [], []])
    turnsEverywhere(4)
    const five = await eventually(async () => {
      const [found] = (await everywhere()).flat()
      expect(found).toMatchObject({ source_sessions: 5 })
      return found
    }, 50)
    // The build may have come between the turns of the fifth session.
    expect([13, 14, 15]).toContain(five?.call_count)
    await eventually(async () => expect(await everywhere()).toEqual([[five], [five], [five]]), 50)
  })

  test('remember what was published when Redis forgets it', async () => {
    const key = readTelemetryKey(folders[0]!)!
    const fileOf = (folder: string) =>
      readFileSync(join(fingerprintsFolder(folder), tenantFolder(key, 'local'), SPANS_FILE))
    const before = fileOf(folders[0]!)
    const publishedBefore = await everywhere()
    await redis.ask('FLUSHALL')
    const builtBefore = builds().length
    // Sessions of a day that was published may not be published once more.
    for (let session = 5; session < 11; session++) turnsEverywhere(session)
    await eventually(() => expect(builds().length).toBeGreaterThan(builtBefore + 1), 50)
    expect(await everywhere()).toEqual(publishedBefore)
    expect(folders.map(fileOf)).toEqual([before, before, before])
  })
})
