import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'

const CLI = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url))

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('a purge by command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-purge-'))
  let redis: RedisProcess
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const notices = async () => (await redis.ask('KEYS', '*:r:notices:*')) as readonly string[]

  it('is told again if the server forgets it while no replica has heard of it', async () => {
    const config = join(folder, 'config.toml')
    writeFileSync(config, '[store.redis]\ncall_timeout_ms = 10_000\n')
    const env = {
      ...{ HAVERSACK_CONFIG: config, HAVERSACK_REDIS_URL: redis.url },
      HAVERSACK_DATA_DIR: join(folder, 'data'),
    }
    const command = spawn(process.execPath, [CLI, 'store', 'purge', '--tenant', 'acme'], {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    const ended = once(command, 'exit')
    await eventually(async () => expect(await notices()).toHaveLength(1))
    await redis.ask('FLUSHALL')
    expect(await ended).toEqual([0, null])
    expect(await notices()).toHaveLength(1)
  })
})
