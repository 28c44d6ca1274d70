import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { keyFor, keysFileText } from '../../support/keys.ts'
import { countRequest, dial } from '../../support/raw-http.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../../support/service-process.ts'

const MOST = 4

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('two replicas', () => {
  const root = mkdtempSync(join(tmpdir(), 'haversack-places-'))
  const { key, record } = keyFor('acme', { max_concurrent: MOST })
  const watcher = keyFor('acme', { scopes: ['metrics'] })
  let redis: RedisProcess
  let replicas: readonly ServiceProcess[]
  const sockets: Socket[] = []

  beforeAll(async () => {
    redis = await startRedis()
    const keys = join(root, 'keys.json')
    writeFileSync(keys, keysFileText({ record }, watcher))
    replicas = await Promise.all(
      [0, 1].map(i =>
        startProcess({
          env: {
            HAVERSACK_REDIS_URL: redis.url,
            HAVERSACK_DATA_DIR: join(root, `data-${i}`),
            HAVERSACK_KEYS_FILE: keys,
          },
        }),
      ),
    )
  })
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    killProcesses()
    await redis.stop()
    rmSync(root, { recursive: true, force: true })
  })

  const bearer = `authorization: Bearer ${key}`

  /** Begins a request whose body does not end, and says whether it has a place. */
  async function begin(at: ServiceProcess): Promise<boolean> {
    const socket = dial(at.url)
    sockets.push(socket)
    const before = await admitted(at)
    const answered = new Promise<true>(resolve => socket.once('data', () => resolve(true)))
    socket.on('error', () => {})
    socket.write(countRequest('a b', bearer).slice(0, -3))
    return eventually(async () => {
      const isRefused = await Promise.race([answered, Promise.resolve(false)])
      if (!isRefused) expect(await admitted(at)).toBe(before + 1)
      return !isRefused
    })
  }

  async function admitted({ url }: ServiceProcess): Promise<number> {
    const { headers } = watcher
    const text = await (await fetch(`${url}/metrics`, { headers })).text()
    const [, count] = /^haversack_admitted_jobs (\d+)$/m.exec(text)!
    return Number(count)
  }

  test('let a key have its requests at one of them, then none at the other', async () => {
    const [one, other] = replicas as [ServiceProcess, ServiceProcess]
    for (let i = 0; i < MOST; i++) await eventually(async () => expect(await begin(one)).toBe(true))
    expect(await begin(one)).toBe(false)
    // The first ones pass before the other replica has asked.
    const extra = sockets.length
    await eventually(async () => expect(await begin(other)).toBe(false))
    expect(await admitted(other)).toBeLessThanOrEqual(MOST / 2)
    for (const socket of sockets.slice(0, extra)) socket.destroy()
    await eventually(async () => expect(await admitted(one)).toBe(0))
    await eventually(async () => {
      await begin(other)
      expect(await admitted(other)).toBe(MOST)
    })
  })
})
