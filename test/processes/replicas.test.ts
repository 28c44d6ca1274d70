import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type RedisProcess, startRedis } from '../support/redis-server.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../support/service-process.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const BASE_CONFIG = fileURLToPath(new URL('../support/service-process.toml', import.meta.url))
const LOG = Array.from({ length: 400 }, (_, i) => `line ${i} of a file that is read again;`).join(
  '\n',
)

interface Encoded {
  readonly content: string
  readonly format: string
}

/** Two services with data folders of their own and one Redis, as behind a load balancer. */
describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('two replicas on one Redis', () => {
  let redis: RedisProcess
  let one: ServiceProcess
  let two: ServiceProcess
  const folder = mkdtempSync(join(tmpdir(), 'haversack-replicas-'))

  beforeAll(async () => {
    redis = await startRedis()
    const config = join(folder, 'config.toml')
    // A call on a busy machine may take longer than the default. That would cost references.
    const store = '[store.redis]\ncall_timeout_ms = 2_000\n'
    writeFileSync(config, `${readFileSync(BASE_CONFIG, 'utf8')}\n${store}`)
    const env = { HAVERSACK_REDIS_URL: redis.url, HAVERSACK_CONFIG: config }
    ;[one, two] = await Promise.all([startProcess({ env }), startProcess({ env })])
  })
  afterAll(async () => {
    killProcesses()
    await redis.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const post = (service: ServiceProcess, path: string, body: object) =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  async function encode(service: ServiceProcess, session: string, content = LOG): Promise<Encoded> {
    const body = { content, session, tool: 'Read', file_path: 'src/a.ts' }
    const answer = await post(service, '/v1/encode', body)
    expect(answer.status).toBe(200)
    return (await answer.json()) as Encoded
  }

  /** A reference to an earlier result instead of its text. */
  const isReference = ({ content }: Encoded) => content.length < LOG.length / 4

  async function original({ content, format }: Encoded, service: ServiceProcess, session: string) {
    const decoded = await post(service, '/v1/decode', { content, format, session })
    expect(decoded.status).toBe(200)
    return ((await decoded.json()) as { content: string }).content
  }

  test('a reference made by one is decoded by the other', async () => {
    expect(isReference(await encode(one, 'made'))).toBe(false)
    const again = await encode(one, 'made')
    expect(isReference(again)).toBe(true)
    expect(await original(again, two, 'made')).toBe(LOG)
  })

  test('a session may move at any turn, and refers to what the other replica has sent', async () => {
    await encode(one, 'moving')
    const first = await encode(two, 'moving')
    expect(first.content).toContain('1 call ago')
    expect(await original(first, one, 'moving')).toBe(LOG)
    const second = await encode(one, 'moving')
    expect(second.content).toContain('2 calls ago')
    expect(await original(second, two, 'moving')).toBe(LOG)
  })

  test('a compaction that one replica takes holds for the other', async () => {
    await encode(one, 'compacted')
    expect(isReference(await encode(one, 'compacted'))).toBe(true)
    await post(two, '/v1/sessions/compacted/compaction', {})
    expect(isReference(await encode(one, 'compacted'))).toBe(false)
  })

  test('a hung Redis costs references and no answer; they come back with it', async () => {
    await encode(one, 'hung')
    expect(isReference(await encode(one, 'hung'))).toBe(true)
    process.kill(redis.pid, 'SIGSTOP')
    const during = await encode(one, 'hung')
    expect(isReference(during)).toBe(false)
    const compaction = await post(one, '/v1/sessions/hung/compaction', {})
    expect(compaction.status).toBe(503)
    expect(compaction.headers.get('retry-after')).not.toBeNull()
    expect((await fetch(`${one.url}/livez`)).status).toBe(200)
    const states = () =>
      one
        .log()
        .filter(({ msg }) => msg === 'the store')
        .map(({ kind }) => kind)
    await eventually(async () => {
      expect(isReference(await encode(one, 'hung'))).toBe(false)
      expect(states()).toEqual(['unreachable'])
    })
    process.kill(redis.pid, 'SIGCONT')
    await eventually(async () => expect(isReference(await encode(one, 'hung'))).toBe(true))
    // A line for each change of state, not one for each request.
    await eventually(() => expect(states()).toEqual(['unreachable', 'reachable']))
  })

  test('a start without Redis is a start, and the command line says what is wrong', async () => {
    const env = { HAVERSACK_REDIS_URL: 'redis://user:secret@127.0.0.1:1' }
    const alone = await startProcess({ env })
    expect(isReference(await encode(alone, 'alone'))).toBe(false)
    expect((await fetch(`${alone.url}/readyz`)).status).toBe(200)
    expect(alone.stderr()).not.toContain('secret')
    const { status, stderr } = spawnSync(process.execPath, [CLI, 'store', 'stats'], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([1, expect.stringContaining('Redis cannot be reached')])
    expect(stderr).not.toContain('secret')
  })

  test('what a replica kept outlives it', async () => {
    const kept = await encode(two, 'outlived')
    const again = await encode(two, 'outlived')
    expect(isReference(kept)).toBe(false)
    expect(isReference(again)).toBe(true)
    two.child.kill('SIGKILL')
    await two.exited
    expect(await original(again, one, 'outlived')).toBe(LOG)
  })
})
