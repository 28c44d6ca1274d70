import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis, startSentinel } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { bytesOf, keep, must, noise, text } from '../../unit/store/inline-store.ts'

const KIB = 1024
const root = new URL('../../../', import.meta.url)

/** Everything once: what a server must be able to do. */
async function useAll(url: string): Promise<void> {
  const { store } = await redisStore(url, { prefix: 'hvs1' })
  const record = { tenant: 'a', namespace: 'n', key: 'k' }
  const { hash: ref } = await keep(store, 'x', { tenant: 'a', session: 's' })
  const large = await keep(store, noise(200 * KIB, 1))
  must((await store.touch([{ tenant: 'a', ref }]))[0])
  expect(
    text(must(await store.get({ tenant: 'a', ref: ref.slice(0, 8), session: 's' })).body),
  ).toBe('x')
  must(await store.get({ tenant: 'a', ref: large.hash }))
  must(await store.writeRecord({ ...record, value: bytesOf('v') }))
  must(await store.readRecord(record))
  must(await store.deleteRecord(record))
  const name = { tenant: 'a', session: 's', ttlMs: 60_000 }
  const asked = { ...name, calls: ['ab'.repeat(32)], has: null }
  const { epoch } = must(await store.journal!.open(asked))
  // The second change is so large that the first one leaves.
  const bytes = randomBytes(600 * 1024)
  for (let i = 0; i < 2; i++)
    must(await store.journal!.append({ ...name, epoch, bytes, texts: [] }))
  expect(must(await store.journal!.open(asked)).changes).toHaveLength(1)
  must(await store.journal!.compact(name))
  must(await store.prune())
  expect(must(await store.verify(10)).checked).toBe(2)
  expect(must(await store.stats()).bodies).toBe(2)
  expect(must(await store.purgeSession('a', 's')).bodies).toBe(1)
  expect(must(await store.purgeTenant('a')).bodies).toBe(1)
}

/** A Sentinel that watches a primary alone. */
async function sentinelOf(primary: RedisProcess): Promise<RedisProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  writeFileSync(
    file,
    [
      `sentinel monitor haversack 127.0.0.1 ${primary.port} 1`,
      'sentinel down-after-milliseconds haversack 300',
      'sentinel failover-timeout haversack 2000',
    ].join('\n'),
  )
  const sentinel = await startSentinel(file)
  onTestFinished(async () => {
    await sentinel.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return sentinel
}

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('servers', () => {
  test('a user with the rights of our ACL file can do everything', async () => {
    const file = readFileSync(new URL('k8s/components/shared-store/users.acl', root), 'utf8')
    const user = /^user haversack .*$/m.exec(file)?.[0] ?? ''
    const rights = user.replace('PASSWORD', 'secret').split(' ').slice(2)
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    await redis.ask('ACL', 'SETUSER', 'haversack', ...rights)
    await useAll(redis.url.replace('//', '//haversack:secret@'))
    // Nothing was tried that it may not do.
    expect(await redis.ask('ACL', 'LOG')).toEqual([])
    await redis.ask('ACL', 'SETUSER', 'haversack', '-zadd')
    await expect(useAll(redis.url.replace('//', '//haversack:secret@'))).rejects.toThrow()
    expect(await redis.ask('ACL', 'LOG')).not.toEqual([])
  })

  test('the ACL file has each command that a function runs', () => {
    const folder = new URL('src/store/redis/library/', root)
    const lua = readdirSync(folder).map(file => readFileSync(new URL(file, folder), 'utf8'))
    const run = lua.join('').matchAll(/redis\.call\('([A-Z]+)'/g)
    const commands = [...new Set([...run].map(([, command]) => command!.toLowerCase()))]
    const file = readFileSync(new URL('k8s/components/shared-store/users.acl', root), 'utf8')
    const rights = file.trim().split(/\s+/)
    expect(commands.length).toBeGreaterThan(20)
    expect(commands.filter(command => !rights.includes(`+${command}`))).toEqual([])
  })

  test('a cluster serves as one server does', async () => {
    const redis = await startRedis('--cluster-enabled', 'yes')
    onTestFinished(() => redis.stop())
    await redis.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await eventually(async () =>
      expect(String(await redis.ask('CLUSTER', 'INFO'))).toContain('cluster_state:ok'),
    )
    await useAll(redis.url.replace('redis:', 'redis+cluster:'))
  })

  test('a cluster keeps nothing new while one of its nodes may evict', async () => {
    const nodes = [
      await startRedis('--cluster-enabled', 'yes'),
      await startRedis('--cluster-enabled', 'yes'),
    ]
    onTestFinished(async () => {
      await Promise.all(nodes.map(node => node.stop()))
    })
    const [first, second] = nodes as [RedisProcess, RedisProcess]
    await first.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '8191')
    await second.ask('CLUSTER', 'ADDSLOTSRANGE', '8192', '16383')
    await first.ask('CLUSTER', 'MEET', '127.0.0.1', `${second.port}`)
    for (const node of nodes) {
      await eventually(async () => {
        const info = String(await node.ask('CLUSTER', 'INFO'))
        expect(info).toMatch(/cluster_state:ok.*cluster_known_nodes:2/s)
      })
    }
    const url = first.url.replace('redis:', 'redis+cluster:')
    const { store, events } = await redisStore(url, { probeMs: 50 })
    for (const node of nodes) {
      await node.ask('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
      await eventually(() => expect(store.load.state).toBe('unavailable'))
      await node.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      await eventually(() => expect(store.load.state).toBe('open'))
    }
    expect(events).toEqual(nodes.map(() => ({ kind: 'wrong_policy', policy: 'volatile-lru' })))
  })

  test('after a failover the new primary has what a replica confirmed', async () => {
    const primary = await startRedis('--repl-diskless-sync-delay', '0')
    const replica = await startRedis('--replicaof', `127.0.0.1 ${primary.port}`)
    const sentinel = await sentinelOf(primary)
    onTestFinished(async () => {
      await Promise.all([replica.stop(), primary.stop()])
    })
    await eventually(async () => {
      const known = JSON.stringify(await sentinel.ask('SENTINEL', 'REPLICAS', 'haversack'))
      expect(known).toContain(`${replica.port}`)
    })
    const { store, events } = await redisStore(
      `redis+sentinel://127.0.0.1:${sentinel.port}/haversack`,
      { durability: 'replica', callTimeoutMs: 200, waitMs: 1_000, probeMs: 50 },
    )
    // On a busy machine a call may run into its deadline.
    const { hash: ref } = await eventually(() => keep(store, 'confirmed'))
    // The first calls may have been slow.
    await eventually(() => expect(events.at(-1)?.kind).not.toBe('unreachable'))
    const begun = events.length
    process.kill(primary.pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(primary.pid, 'SIGCONT'))
    await eventually(async () => {
      expect(text(must(await store.get({ tenant: 'a', ref })).body)).toBe('confirmed')
    })
    // The new primary may be away for a moment while the others follow it.
    const kinds = events.slice(begun).map(({ kind }) => kind)
    expect(kinds.join(' ')).toMatch(
      /^unreachable other_server reachable(?: unreachable reachable)*$/,
    )
    expect(String(await replica.ask('ROLE'))).toMatch(/^master/)
  })

  test('a primary that Sentinels may have replaced takes writes only if a replica follows', async () => {
    const primary = await startRedis('--repl-diskless-sync-delay', '0')
    const replica = await startRedis('--replicaof', `127.0.0.1 ${primary.port}`)
    onTestFinished(async () => {
      await Promise.all([replica.stop(), primary.stop()])
    })
    const sentinel = await sentinelOf(primary)
    const { store, prefix } = await redisStore(
      `redis+sentinel://127.0.0.1:${sentinel.port}/haversack`,
      { callTimeoutMs: 1_000, probeMs: 50 },
    )
    let count = 0
    const write = async () => {
      const body = bytesOf(`body ${count++}`)
      const item = { tenant: 'a', body, mediaType: 'text/plain', ttlMs: 60_000 }
      return (await store.put([item]))[0]
    }
    const isWritten = () =>
      eventually(async () => expect(await write()).toMatchObject({ ok: true }))
    await isWritten()
    // From here on nobody says whether there is another primary.
    process.kill(sentinel.pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(sentinel.pid, 'SIGCONT'))
    await eventually(async () => {
      expect(await primary.ask('GET', `${prefix}:followed`)).not.toBeNull()
    })
    await isWritten()
    process.kill(replica.pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(replica.pid, 'SIGCONT'))
    await eventually(async () => {
      expect(await write()).toMatchObject({ reason: 'unavailable' })
    })
    for (const { pid } of [replica, sentinel]) process.kill(pid, 'SIGCONT')
    await isWritten()
  }, 60_000)
})
