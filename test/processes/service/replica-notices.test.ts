import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readTelemetryKey } from '../../../src/book/events/key-file.ts'
import { telemetryFolder } from '../../../src/book/events/layout.ts'
import { tenantFolder } from '../../../src/core/telemetry/pseudonyms.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, keysFileText } from '../../support/keys.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../../support/service-process.ts'

const CLI = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url))
const BASE = fileURLToPath(new URL('../../support/service-process.toml', import.meta.url))
const SCOPES = ['encode', 'retrieve'] as const

/** Three services, each with a keys file and a data folder of its own, as pods have them. */
describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('three replicas tell each other', () => {
  const root = mkdtempSync(join(tmpdir(), 'haversack-notices-'))
  const [first, second, third] = ['acme', 'acme', 'beta'].map(tenant =>
    keyFor(tenant, { scopes: [...SCOPES] }),
  ) as [Key, Key, Key]
  let redis: RedisProcess
  let replicas: readonly ServiceProcess[]

  type Key = ReturnType<typeof keyFor>
  const folderOf = (i: number) => join(root, `data-${i}`)
  const fileOf = (i: number) => join(root, `keys-${i}.json`)

  /** Puts another file in the place of a replica's, as a Secret does. */
  function mount(i: number, ...keys: readonly Key[]): void {
    writeFileSync(`${fileOf(i)}.next`, keysFileText(...keys))
    renameSync(`${fileOf(i)}.next`, fileOf(i))
  }

  beforeAll(async () => {
    redis = await startRedis()
    const config = join(root, 'config.toml')
    const settings = ['[store.redis]', 'call_timeout_ms = 10_000', '[telemetry]', 'sample_rate = 1']
    const base = readFileSync(BASE, 'utf8')
    writeFileSync(config, `${base}\n${settings.join('\n')}\n`)
    replicas = await Promise.all(
      [0, 1, 2].map(i => {
        mount(i, first, second, third)
        return startProcess({ env: envOf(i, config) })
      }),
    )
  })
  afterAll(async () => {
    killProcesses()
    await redis.stop()
    rmSync(root, { recursive: true, force: true })
  })

  const envOf = (i: number, config = join(root, 'config.toml')) => ({
    HAVERSACK_REDIS_URL: redis.url,
    HAVERSACK_CONFIG: config,
    HAVERSACK_DATA_DIR: folderOf(i),
    HAVERSACK_KEYS_FILE: fileOf(i),
  })

  async function statusOf(i: number, { key }: Key, session = 's'): Promise<number> {
    const answer = await fetch(`${replicas[i]!.url}/v1/encode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ content: 'a result', session, tool: 'Read' }),
    })
    await answer.arrayBuffer()
    return answer.status
  }

  const statuses = (key: Key) => Promise.all([0, 1, 2].map(i => statusOf(i, key)))

  function cli(i: number, ...args: readonly string[]) {
    const env = { ...process.env, ...envOf(i) }
    return spawnSync(process.execPath, [CLI, ...args], { env, encoding: 'utf8' })
  }

  test('a key that left one keys file is refused by all; it holds where it comes back', async () => {
    expect(await statuses(first)).toEqual([200, 200, 200])
    mount(0, second, third)
    await eventually(async () => expect(await statuses(first)).toEqual([401, 401, 401]))
    expect(await statuses(second)).toEqual([200, 200, 200])
    // It does not come back because a replica reads its old file again.
    mount(1, third, second, first)
    await eventually(() =>
      expect(replicas[1]!.log().map(({ msg }) => msg)).toContain('keys read again'),
    )
    expect(await statuses(first)).toEqual([401, 401, 401])
    mount(0, first, second, third)
    await eventually(async () => expect(await statuses(first)).toEqual([200, 200, 200]))
  })

  test('a key is revoked by a command, without a change of any file', async () => {
    const revoked = cli(1, 'keys', 'revoke', third.record.id, '--replicas')
    expect(revoked).toMatchObject({ status: 0, stderr: expect.stringContaining('for a day') })
    await eventually(async () => expect(await statuses(third)).toEqual([401, 401, 401]))
    // A Redis that forgets it is told again, and a replica that starts then refuses the key too.
    await redis.ask('FLUSHALL')
    const late = await startProcess({ env: envOf(2) })
    const [, , old] = replicas
    replicas = [...replicas.slice(0, 2), late]
    await eventually(async () => expect(await statuses(third)).toEqual([401, 401, 401]))
    old!.child.kill('SIGKILL')
  })

  test("a purge deletes the tenant's files of every replica, also of one that was away", async () => {
    const key = readTelemetryKey(folderOf(0))!
    const isThere = (i: number) =>
      existsSync(join(telemetryFolder(folderOf(i)), tenantFolder(key, 'acme')))
    const there = () => [0, 1, 2].map(isThere)
    for (const i of [0, 1, 2]) await statusOf(i, second)
    // Telemetry is written every five seconds.
    await eventually(() => expect(there()).toEqual([true, true, true]))
    replicas[2]!.child.kill('SIGKILL')
    await replicas[2]!.exited
    const purged = cli(0, 'store', 'purge', '--tenant', 'acme')
    expect(purged).toMatchObject({ status: 0, stderr: '' })
    await eventually(() => expect(there()).toEqual([false, false, true]))
    replicas = [...replicas.slice(0, 2), await startProcess({ env: envOf(2) })]
    await eventually(() => expect(there()).toEqual([false, false, false]))
    // What comes after it stays.
    for (const i of [0, 1, 2]) await statusOf(i, second)
    await eventually(() => expect(there()).toEqual([true, true, true]))
    const done = (i: number) =>
      replicas[i]!.log().filter(({ msg }) => msg === 'files of a purged tenant deleted').length
    expect([0, 1, 2].map(done)).toEqual([1, 1, 1])
  })
})
