import { createPrivateKey } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { parseRedisUrl } from '../../../src/core/base/redis-address.ts'
import { openRedisStore, type RedisStoreOptions } from '../../../src/store/redis/open.ts'
import type { Failure, Store } from '../../../src/store/store.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { bytesOf, keep, must, NEVER_SWEPT, text } from '../../unit/store/inline-store.ts'

const HOUR = 3_600_000
const PATIENT = { callTimeoutMs: 60_000, startMs: 60_000, silentMs: 60_000 }
const KEY = { tenant: 'a', namespace: 'n', key: 'k' }
const NO_LEASE = { ok: false, reason: 'unavailable', detail: 'no lease' } as const
const UNAVAILABLE = { ok: false, reason: 'unavailable' }

/** A store by the server's clock, as in the product. */
async function open(url: string, options: Partial<RedisStoreOptions> = {}) {
  const address = parseRedisUrl(url)
  if ('fault' in address) throw new Error(address.fault)
  const events: StoreEvent[] = []
  const store = await openRedisStore({
    ...{ address, tenantMaxBytes: 2 ** 28, maxBodyBytes: 2 ** 24, ...PATIENT },
    onEvent: event => events.push(event),
    ...options,
  })
  onTestFinished(() => store.close())
  return { store, events }
}

/** A start of the command line ends with this text, as soon as the server was asked. */
function refused(url: string, options: Partial<RedisStoreOptions>, detail: string) {
  return eventually(async () => {
    const asked = open(url, { ...options, startMs: 200, mustAnswer: true })
    await expect(asked).rejects.toThrow(detail)
  })
}

type Outcome = { readonly ok: true } | Failure

/** Every call of a store; none may reject. */
async function everyCall(store: Store): Promise<Outcome[]> {
  const { journal, rates } = store
  const session = { tenant: 'a', session: 's', ttlMs: HOUR }
  const body = bytesOf('new')
  const lease = { keyId: 'k', perSecond: 1, burst: 1, wanted: 1, taken: 0 }
  return [
    ...(await store.put([{ tenant: 'a', body, mediaType: 'text/plain', session: 's' }])),
    await store.get({ tenant: 'a', ref: 'a'.repeat(12) }),
    ...(await store.touch([{ tenant: 'a', ref: 'a'.repeat(12) }])),
    await store.readRecord(KEY),
    await store.writeRecord({ ...KEY, value: body }),
    await store.deleteRecord(KEY),
    await journal!.open({ ...session, calls: [''], has: null }),
    await journal!.append({ ...session, bytes: body, texts: [] }),
    await journal!.compact(session),
    (await rates!.lease({ tenant: 'a', ...lease })) === null ? NO_LEASE : { ok: true },
    await store.stats(),
    await store.stats('a'),
    await store.verify(10),
    await store.prune(),
    await store.purgeSession('a', 's'),
  ]
}

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('a Redis', () => {
  let redis: RedisProcess
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  // Not after a test: its stores are still there then, and would write their names again.
  beforeEach(() => redis.ask('FLUSHALL'))
  afterEach(() => void vi.restoreAllMocks())

  test('that speaks RESP2 only serves as any other', async () => {
    const old = await startRedis('--rename-command', 'HELLO', '')
    try {
      const { store } = await open(old.url)
      const { hash: ref } = await keep(store, 'x')
      expect(text(must(await store.get({ tenant: 'a', ref })).body)).toBe('x')
    } finally {
      await old.stop()
    }
  })

  test('with an expired certificate is not used, whatever it answers', async () => {
    const key = createPrivateKey({ key: EXPIRED.key, format: 'jwk' })
    const pem = String(key.export({ type: 'pkcs8', format: 'pem' }))
    let sent = ''
    const server = createServer({ cert: EXPIRED.cert, key: pem }, socket => {
      socket.on('error', () => {})
      socket.on('data', data => {
        sent += String(data)
        socket.write('+OK\r\n')
      })
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const url = `rediss://user:secret@localhost:${port}`
    const options = { tls: { ca: EXPIRED.cert } }
    await refused(url, options, 'the certificate of Redis is not valid: CERT_HAS_EXPIRED')
    expect(sent).toBe('')
    server.close()
  })

  test('that another cluster uses under the same prefix is refused, and says whose it is', async () => {
    const { store: first } = await open(redis.url, { cluster: 'one' })
    const { hash: ref } = await keep(first, 'x')
    const said = 'Redis belongs to the cluster "one": see store.redis.cluster'
    for (const other of [{ cluster: 'two' }, {}]) {
      await refused(redis.url, other, said)
      const { store } = await open(redis.url, { ...other, startMs: 50, probeMs: 50 })
      await eventually(async () => {
        const answer = await store.get({ tenant: 'a', ref })
        expect(answer).toEqual({ ...UNAVAILABLE, detail: said })
      })
    }
    // More replicas of the first one, another prefix, and what an operator renames.
    const { store: second } = await open(redis.url, { cluster: 'one' })
    must(await second.get({ tenant: 'a', ref }))
    const { store: apart } = await open(redis.url, { cluster: 'two', prefix: 'other' })
    expect(await apart.get({ tenant: 'a', ref })).toMatchObject({ reason: 'not_found' })
    await redis.ask('SET', 'hvs1:cluster', 'two')
    const { store: renamed } = await open(redis.url, { cluster: 'two' })
    must(await renamed.get({ tenant: 'a', ref }))
  })

  test('that runs a long script of another program is answered for, and serves after it', async () => {
    const { store } = await open(redis.url, { callTimeoutMs: 300, probeMs: 50, silentMs: 250 })
    const { hash: ref } = await keep(store, 'x')
    await redis.ask('CONFIG', 'SET', 'busy-reply-threshold', '50')
    const other = await startClient(redis)
    const running = other(['EVAL', 'while true do end', '0']).catch(String)
    await eventually(async () => {
      const answer = await store.get({ tenant: 'a', ref })
      expect(answer).toMatchObject({ ok: false })
      expect(['unavailable', 'busy']).toContain(answer.ok ? '' : answer.reason)
    })
    for (const answer of await everyCall(store)) expect(answer.ok).toBe(false)
    await eventually(() => redis.ask('SCRIPT', 'KILL'))
    expect(await running).toContain('Script killed')
    await eventually(async () => must(await store.get({ tenant: 'a', ref })))
  })

  test('keeps the libraries of others, and loses one that has our name and is not ours', async () => {
    const { store } = await open(redis.url)
    const { hash: ref } = await keep(store, 'x')
    const [own] = await libraries(redis)
    const load = (name: string, called: string) =>
      redis.ask('FUNCTION', 'LOAD', 'REPLACE', foreign(name, called))
    await load('of_others', 'other_call')
    await load(own!, 'call_of_nobody')
    must(await store.get({ tenant: 'a', ref }))
    expect((await libraries(redis)).sort()).toEqual([own, 'of_others'].sort())
    expect(await redis.ask('FCALL', 'other_call', '0')).toBe(7)
  })

  test('with keys of another program under our prefix loses none of them, and no call rejects', async () => {
    const { store, prefix } = await redisStore(redis.url, { upkeepMs: NEVER_SWEPT, silentMs: 250 })
    await keep(store, 'x', { tenant: 'a', session: 's' })
    await everyCall(store)
    const keys = (await redis.ask('KEYS', `${prefix}:*`)) as string[]
    expect(keys.length).toBeGreaterThan(6)
    for (const key of keys) {
      await redis.ask('DEL', key)
      await redis.ask('XADD', key, '*', 'of', 'others')
    }
    for (const answer of await everyCall(store)) {
      if (!answer.ok) expect(answer.detail).not.toContain('of others')
    }
    // A process that starts then does not use the server.
    const late = await redisStore(redis.url, { prefix, startMs: 300, probeMs: 50, silentMs: 250 })
    for (const answer of await everyCall(late.store)) expect(answer.ok).toBe(false)
    for (const key of keys) expect(await redis.ask('TYPE', key)).toBe('stream')
  })

  test('is right about time whatever the clocks of its processes say', async () => {
    const { store: other } = await open(redis.url)
    const truth = Date.now
    for (const aheadMs of [-600_000, 600_000]) {
      vi.spyOn(Date, 'now').mockImplementation(() => truth() + aheadMs)
      const { store: one } = await open(redis.url)
      const body = `kept ${aheadMs}`
      const pinUntil = Date.now() + 60_000
      const { hash: ref } = await keep(one, body, { tenant: 'a', ttlMs: 60_000, pinUntil })
      vi.restoreAllMocks()
      const { expires_at } = must(await other.get({ tenant: 'a', ref }))
      expect(Math.abs(expires_at - truth() - 60_000)).toBeLessThan(50_000)
    }
  })

  const NAMES = ['{', '}', '{a}', '}{', '{}', '{a}{b}', '\0', '{\ud800', '💥'.repeat(300), ' ', '*']

  test.each(NAMES)('serves a session of the name %j as any other', async session => {
    const { store, prefix } = await redisStore(redis.url)
    const { hash: ref } = await keep(store, 'x', { tenant: 'a', session })
    const named = { tenant: 'a', session, ttlMs: HOUR }
    const opened = must(await store.journal!.open({ ...named, calls: [''], has: null }))
    expect(opened.sequences).toEqual([1])
    must(await store.get({ tenant: 'a', ref: ref.slice(0, 8), session }))
    const other = await store.get({ tenant: 'a', ref: ref.slice(0, 8), session: 'a' })
    expect(other).toMatchObject({ reason: 'not_found' })
    const keys = (await redis.ask('KEYS', `${prefix}:{*`)) as string[]
    expect(new Set(keys.map(key => key.slice(0, key.indexOf('}')))).size).toBe(1)
    must(await store.purgeSession('a', session))
    expect(await store.get({ tenant: 'a', ref })).toMatchObject({ ok: false })
  })

  test('gives ten processes that open a session at once one epoch, and each a number', async () => {
    const first = await redisStore(redis.url)
    const stores = [first]
    for (let i = 1; i < 10; i++) stores.push(await redisStore(redis.url, { prefix: first.prefix }))
    const named = { tenant: 'a', session: 's', ttlMs: HOUR, has: null }
    const opened = await Promise.all(
      stores.map(({ store }, i) => store.journal!.open({ ...named, calls: [callOf(i)] })),
    )
    const all = opened.map(must)
    expect(new Set(all.map(({ epoch }) => epoch)).size).toBe(1)
    const numbers = all.flatMap(({ sequences }) => sequences).sort((a, b) => a - b)
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('bounds a session of very many turns, and counts them all', async () => {
    const { store, prefix } = await redisStore(redis.url)
    const named = { tenant: 'a', session: 's', ttlMs: HOUR }
    const turns = 3_000
    for (let i = 0; i < turns; i += 50) {
      const calls = Array.from({ length: 50 }, (_, j) => callOf(i + j))
      await store.journal!.open({ ...named, calls, has: null })
      await Promise.all(
        calls.map(call =>
          store.journal!.append({ ...named, bytes: bytesOf(`["${call}"]`), texts: [] }),
        ),
      )
    }
    const end = must(await store.journal!.open({ ...named, calls: [callOf(turns)], has: null }))
    expect([end.results, end.sequences, end.changes.length]).toEqual([turns + 1, [turns + 1], 512])
    const keys = (await redis.ask('KEYS', `${prefix}:{*`)) as string[]
    const sizes = await Promise.all(keys.map(key => redis.ask('MEMORY', 'USAGE', key)))
    // 512 changes and 2,048 calls, whatever the number of turns.
    expect(sizes.reduce<number>((sum, size) => sum + Number(size), 0)).toBeLessThan(400_000)
    expect(must(await store.stats('a')).stored_bytes).toBeLessThan(400_000)
  })
})

const callOf = (i: number) => i.toString(16).padStart(8, '0').padEnd(64, '0')

/** Names of all libraries. */
async function libraries(redis: RedisProcess): Promise<string[]> {
  const listed = (await redis.ask('FUNCTION', 'LIST')) as unknown[][]
  return listed.map(entry => String(entry[entry.indexOf('library_name') + 1]))
}

function foreign(library: string, name: string): string {
  return `#!lua name=${library}\nredis.register_function('${name}', function() return 7 end)`
}

/** Another program's connection, whose calls may take as long as they like. */
async function startClient({ url }: RedisProcess) {
  const { createClient } = await import('@redis/client')
  const client = createClient({ url, RESP: 2 })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.destroy())
  return (args: string[]) => client.sendCommand(args)
}

/** Valid in January 2020, for localhost, signed by itself. */
const EXPIRED = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBEDCBtgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwHhcN
MjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARc2B7qTLq0NtyQwpaNW1UrNEBu
99jMTxN/N5JJozjSVhhIFmek4yVQCttTytYqEAu4QysG2suY2vpj1Sx7MVovMAoG
CCqGSM49BAMCA0kAMEYCIQC4DFcEpNGnMcH2cIXSIblQBAN7D18MRp1jO1PifEdn
FAIhALCda0ev1vL5xRgpK5v+WV/P3ekDu1cfYbPqVvc9m4Ht
-----END CERTIFICATE-----
`,
  key: {
    kty: 'EC',
    crv: 'P-256',
    x: 'XNge6ky6tDbckMKWjVtVKzRAbvfYzE8TfzeSSaM40lY',
    y: 'GEgWZ6TjJVAK21PK1ioQC7hDKwbay5ja-mPVLHsxWi8',
    d: '1uFPWvDOOjsyUt4aAqX1ptf8GN9Q1PsLCJ5LWqVLbro',
  },
}
