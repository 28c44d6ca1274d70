import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { bytesOf, keep, must, noise, START, text } from '../../unit/store/inline-store.ts'

const KIB = 1024
const PINNED = { tenant: 'a', pinUntil: START + 3_600_000 }

/** What happens to the store when something happens to its server. */
describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('a Redis that', () => {
  let redis: RedisProcess

  beforeEach(async () => {
    redis = await startRedis('--repl-diskless-sync-delay', '0')
  })
  afterEach(() => redis.stop())

  /** A store with deadlines as in the product, but probes that come at once. */
  const open = (options: Parameters<typeof redisStore>[1] = {}) =>
    redisStore(redis.url, { callTimeoutMs: 200, probeMs: 50, ...options })

  const kinds = (events: readonly { readonly kind: string }[]) => events.map(({ kind }) => kind)

  test('hangs is answered for within the deadline, then at once, and used again later', async () => {
    const { store, events } = await open()
    const { hash: ref } = await keep(store, 'x')
    process.kill(redis.pid, 'SIGSTOP')
    const late = await store.get({ tenant: 'a', ref })
    expect(late).toMatchObject({ ok: false, reason: 'unavailable' })
    await eventually(() => expect(store.load.state).toBe('unavailable'))
    expect(kinds(events)).toEqual(['unreachable'])
    // Nothing is sent any more: a hundred calls do not wait for a hundred deadlines.
    const refused = await Promise.all(
      Array.from({ length: 100 }, () => store.get({ tenant: 'a', ref })),
    )
    expect(refused.every(each => !each.ok && each.reason === 'unavailable')).toBe(true)
    await eventually(() => expect(store.load).toMatchObject({ pending: 0, pending_bytes: 0 }))
    process.kill(redis.pid, 'SIGCONT')
    await eventually(() => expect(store.load.state).toBe('open'))
    expect(text(must(await store.get({ tenant: 'a', ref })).body)).toBe('x')
    expect(kinds(events)).toEqual(['unreachable', 'reachable'])
  })

  test('was flushed, or lost its library, has nothing and takes everything', async () => {
    // Without room for its last writes, it cannot make them again.
    const { store } = await open({ repairBytes: 0 })
    const { hash: ref } = await keep(store, 'x')
    await redis.ask('FUNCTION', 'FLUSH')
    must(await store.get({ tenant: 'a', ref }))
    await redis.ask('FLUSHALL')
    await redis.ask('FUNCTION', 'FLUSH')
    await eventually(async () => {
      expect(await store.get({ tenant: 'a', ref })).toMatchObject({ reason: 'not_found' })
    })
    await eventually(() => keep(store, 'x'))
    await eventually(async () => must(await store.get({ tenant: 'a', ref })))
  })

  test('lost its library gets it once, however many calls lack it', async () => {
    const { store } = await open({ callTimeoutMs: 60_000 })
    const { hash: ref } = await keep(store, 'x')
    const before = await calls(redis, 'function\\|load')
    await redis.ask('FUNCTION', 'FLUSH')
    const many = Array.from({ length: 300 }, () => store.get({ tenant: 'a', ref }))
    for (const each of await Promise.all(many)) must(each)
    const loads = (await calls(redis, 'function\\|load')) - before
    expect(loads).toBeGreaterThan(0)
    expect(loads).toBeLessThan(4)
  })

  test('is full refuses what is new; what is there can be read and removed', async () => {
    const { store } = await open({ compressFromBytes: null })
    const pinned = await keep(store, noise(40 * KIB, 1), PINNED)
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1')
    const put = (seed: number) =>
      store.put([{ tenant: 'a', body: noise(40 * KIB, seed), mediaType: 'text/plain' }])
    expect(await put(2)).toMatchObject([{ ok: false, reason: 'full' }])
    must(await store.get({ tenant: 'a', ref: pinned.hash }))
    const used = Number(/used_memory:(\d+)/.exec(String(await redis.ask('INFO', 'memory')))?.[1])
    await redis.ask('CONFIG', 'SET', 'maxmemory', `${used + 400 * KIB}`)
    // Bodies that no hint needs make room for new ones, for as long as it takes.
    for (let seed = 2; seed < 40; seed++) must((await put(seed))[0])
    expect(must(await store.stats()).counters?.evicted).toBeGreaterThan(0)
    must(await store.get({ tenant: 'a', ref: pinned.hash }))
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1')
    must(await store.purgeTenant('a'))
    expect(must(await store.stats('a'))).toMatchObject({ bodies: 0, records: 0, stored_bytes: 0 })
  })

  test('may evict by itself keeps nothing new, and says so once', async () => {
    const { store, events } = await open()
    const { hash: ref } = await keep(store, 'x')
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    await eventually(() => expect(store.load.state).toBe('unavailable'))
    const put = () => store.put([{ tenant: 'a', body: bytesOf('y'), mediaType: 'text/plain' }])
    expect(await put()).toMatchObject([{ ok: false, reason: 'unavailable' }])
    must(await store.get({ tenant: 'a', ref }))
    expect(events).toEqual([{ kind: 'wrong_policy', policy: 'allkeys-lru' }])
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await eventually(() => expect(store.load.state).toBe('open'))
    must((await put())[0])
  })

  test('became a replica is away, before any call fails, until it is a primary again', async () => {
    const { store, events } = await open()
    await redis.ask('REPLICAOF', '127.0.0.1', '1')
    await eventually(() => expect(store.load.state).toBe('unavailable'))
    expect(events.map(({ kind }) => kind)).toEqual(['unreachable'])
    await redis.ask('REPLICAOF', 'NO', 'ONE')
    await eventually(() => expect(store.load.state).toBe('open'))
    await keep(store, 'x')
  })

  test('refuses the password is said without the password', async () => {
    await redis.ask('CONFIG', 'SET', 'requirepass', 'right')
    const url = redis.url.replace('//', '//:wr0ng@')
    const opened = redisStore(url, { mustAnswer: true, startMs: 200 })
    await expect(opened).rejects.toThrow(/^Redis refused the user: WRONGPASS$/)
    const { store, events } = await redisStore(url, { startMs: 200, probeMs: 50 })
    expect(await store.stats()).toMatchObject({ ok: false, reason: 'unavailable' })
    expect(events).toEqual([{ kind: 'unreachable', detail: 'Redis refused the user: WRONGPASS' }])
    await redis.ask('CONFIG', 'SET', 'requirepass', 'wr0ng')
    await eventually(() => expect(store.load.state).toBe('open'))
  })

  test('has no replica cannot confirm a write that must be on one', async () => {
    const options = { durability: 'replica', callTimeoutMs: 60_000 } as const
    const { store: hasty } = await open({ ...options, waitMs: 20 })
    const put = () => hasty.put([{ tenant: 'a', body: bytesOf('x'), mediaType: 'text/plain' }])
    expect(await put()).toMatchObject([{ ok: false, reason: 'unavailable' }])
    const replica = await startRedis('--replicaof', `127.0.0.1 ${redis.port}`)
    try {
      await eventually(async () => must((await put())[0]))
      // One wait serves many writes.
      const { store: patient } = await open({ ...options, waitMs: 30_000 })
      const before = await calls(redis, 'wait')
      const many = Array.from({ length: 64 }, (_, i) => keep(patient, `body ${i}`))
      await Promise.all(many)
      expect((await calls(redis, 'wait')) - before).toBeLessThan(8)
    } finally {
      await replica.stop()
    }
  })

  test('is too old for the disk to be asked fails such writes alone', async () => {
    const { store } = await open({ durability: 'disk', waitMs: 20 })
    const answer = await store.put([{ tenant: 'a', body: bytesOf('x'), mediaType: 'text/plain' }])
    const version = String(await redis.ask('INFO', 'server'))
    const isKnown = /redis_version:(?:7\.[2-9]|[89])/.test(version)
    expect(answer).toMatchObject([{ ok: false, reason: isKnown ? 'unavailable' : 'failed' }])
  })

  test('has keys of another program, or of a later version, is left as it is', async () => {
    const { store, prefix } = await open()
    const { hash: ref } = await keep(store, 'x')
    must(await store.writeRecord({ tenant: 'a', namespace: 'n', key: 'k', value: bytesOf('v') }))
    const keys = (await redis.ask('KEYS', `${prefix}:*`)) as string[]
    const body = keys.find(key => key.includes(':b:')) ?? ''
    const record = keys.find(key => key.includes(':r:')) ?? ''
    await redis.ask('SETRANGE', body, '0', '\x02')
    await redis.ask('SETRANGE', record, '0', '\x02')
    const unknown = { ok: false, reason: 'failed' }
    const key = { tenant: 'a', namespace: 'n', key: 'k' }
    expect(await store.get({ tenant: 'a', ref })).toMatchObject(unknown)
    expect(await store.put([{ tenant: 'a', body: bytesOf('x'), mediaType: 'a/b' }])).toMatchObject([
      unknown,
    ])
    expect(await store.readRecord(key)).toMatchObject(unknown)
    expect(await store.writeRecord({ ...key, value: bytesOf('w') })).toMatchObject(unknown)
    await redis.ask('DEL', body)
    await redis.ask('LPUSH', body, 'of another program')
    expect(await store.get({ tenant: 'a', ref })).toMatchObject(unknown)
    expect(await redis.ask('LLEN', body)).toBe(1)
  })
})

const GARBAGE = '\x00\xff no RESP \r\n'

/** Servers that are none, or a Redis that has gone mad. */
const SERVERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'writes garbage': socket => socket.write(GARBAGE),
  'speaks HTTP': socket => socket.on('data', () => socket.write('HTTP/1.1 400 Bad\r\n\r\n')),
  'closes at once': socket => socket.end(),
  'resets every call': socket => socket.on('data', () => socket.resetAndDestroy()),
  'never answers': () => {},
  'announces a terabyte': socket => socket.on('data', () => socket.write('$999999999999\r\nx')),
  'nests lists for ever': socket => socket.on('data', () => socket.write('*1\r\n'.repeat(50_000))),
  'answers with numbers': socket => socket.on('data', () => socket.write(':1\r\n')),
  'answers with nothing': socket => socket.on('data', () => socket.write('$-1\r\n')),
  'answers with errors': socket => socket.on('data', () => socket.write('-ERR no\r\n')),
  // It passes for a Redis, and then answers every function with a number.
  'lies about itself': socket =>
    socket.on('data', data => {
      const info = 'redis_version:7.0.0'
      const isInfo = String(data).includes('INFO')
      socket.write(isInfo ? `$${info.length}\r\n${info}\r\n` : ':1\r\n')
    }),
}

test.each(Object.entries(SERVERS))('a server that %s ends nothing', async (_, answer) => {
  const server = createServer(socket => {
    socket.on('error', () => {})
    answer(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const { store } = await redisStore(`redis://127.0.0.1:${port}`, {
    callTimeoutMs: 20,
    startMs: 50,
    probeMs: 50,
  })
  const refused = { ok: false, reason: expect.stringMatching(/^(?:unavailable|failed)$/) }
  const item = { tenant: 'a', body: bytesOf('x'), mediaType: 'text/plain' }
  expect(await store.put([item])).toEqual([expect.objectContaining(refused)])
  const key = { tenant: 'a', namespace: 'n', key: 'k' }
  for (const call of [
    store.get({ tenant: 'a', ref: 'a'.repeat(12) }),
    store.readRecord(key),
    store.writeRecord({ ...key, value: bytesOf('v') }),
    store.deleteRecord(key),
    store.purgeSession('a', 's'),
    store.purgeTenant('a'),
    store.stats('a'),
  ]) {
    expect(await call).toMatchObject(refused)
  }
  // What the store does by itself ends nothing either.
  expect(await store.prune()).toMatchObject(refused)
  await store.close()
  server.close()
})

/** How often the server ran a command. */
async function calls(redis: RedisProcess, command: string): Promise<number> {
  const stats = String(await redis.ask('INFO', 'commandstats'))
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0)
}
