import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTelemetryKey } from '../../../src/book/events/key-file.ts'
import { newSegment, segmentFile, telemetryFolder } from '../../../src/book/events/layout.ts'
import { processEnv } from '../../../src/config/env.ts'
import { endpointClass } from '../../../src/core/telemetry/endpoint-class.ts'
import type { TelemetryEvent } from '../../../src/core/telemetry/event.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { fingerprintsFolder, SPANS_FILE } from '../../../src/fingerprints/folder-files.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import type { Service } from '../../../src/service/service.ts'
import { startTestService } from '../../integration/service/harness.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { eventOf } from '../../unit/core/telemetry/events.ts'

const DAY = 86_400_000
const TOOL = 'Bash'

describe.skipIf(processEnv()['TEST_WITHOUT_REDIS'] === '1')('three replicas', () => {
  const root = mkdtempSync(join(tmpdir(), 'haversack-fingerprints-'))
  const folders = [0, 1, 2].map(i => join(root, `data-${i}`))
  let redis: RedisProcess
  let replicas: readonly Service[]
  let built = 0
  const start = (folder: string) =>
    startTestService(
      {
        data_dir: folder,
        store: { redis: { url: redis.url, call_timeout_ms: 10_000 } },
        telemetry: { sample_rate: 1 },
        fingerprints: { publish: ['*'] },
      },
      {
        limits: { fingerprintsMs: 2_000 },
        logger: createLogger('info', {
          write: line => void (line.includes('"msg":"fingerprints built"') && built++),
        }),
      },
    )

  beforeAll(async () => {
    redis = await startRedis()
    replicas = await Promise.all(folders.map(start))
  })
  afterAll(async () => {
    await Promise.all(replicas.map(replica => replica.close()))
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

  async function published(replica: Service) {
    const answer = await fetch(`${replica.url}/mcp/fingerprints/v1`)
    const { fingerprints } = (await answer.json()) as {
      fingerprints: readonly { call_count: number; source_sessions: number }[]
    }
    return fingerprints.map(({ call_count, source_sessions }) => ({ call_count, source_sessions }))
  }
  const everywhere = () => Promise.all(replicas.map(published))

  test('count a session once, wherever its turns were, and publish the same', async () => {
    for (let session = 0; session < 4; session++) turnsEverywhere(session)
    const before = built
    // Four sessions on three replicas are twelve parts of sessions, and must not pass for five.
    await eventually(() => expect(built).toBeGreaterThan(before + 1), 50)
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
    const builtBefore = built
    // Sessions of a day that was published may not be published once more.
    for (let session = 5; session < 11; session++) turnsEverywhere(session)
    await eventually(() => expect(built).toBeGreaterThan(builtBefore + 1), 50)
    expect(await everywhere()).toEqual(publishedBefore)
    expect(folders.map(fileOf)).toEqual([before, before, before])
  })
})
