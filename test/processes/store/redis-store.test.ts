import { hash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compressed } from '../../../src/core/base/zlib-calls.ts'
import { parsePart } from '../../../src/core/parts/parse-part.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import {
  bytesOf,
  keep,
  MINUTE,
  must,
  NEVER_SWEPT,
  noise,
  START,
  text,
} from '../../unit/store/inline-store.ts'

const KIB = 1024
const DAY = 24 * 60 * MINUTE
const first = { id: 'first', key: Buffer.alloc(32, 1) }
const second = { id: 'second', key: Buffer.alloc(32, 2) }

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('the store on Redis', () => {
  let redis: RedisProcess

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const open = (options: Parameters<typeof redisStore>[1] = {}) => redisStore(redis.url, options)
  const keysOf = async (prefix: string) => (await redis.ask('KEYS', `${prefix}:*`)) as string[]

  test('is one for all replicas of a prefix, and none for another prefix', async () => {
    const { store: one, prefix } = await open()
    const { store: two } = await open({ prefix })
    const { store: other } = await open()
    const { hash: ref } = await keep(one, 'x', { tenant: 'a', session: 's' })
    expect(
      text(must(await two.get({ tenant: 'a', ref: ref.slice(0, 8), session: 's' })).body),
    ).toBe('x')
    expect((await keep(two, 'x', { tenant: 'a' })).created).toBe(false)
    expect(await other.get({ tenant: 'a', ref })).toMatchObject({ reason: 'not_found' })
    must(await two.purgeTenant('a'))
    expect(await one.get({ tenant: 'a', ref })).toMatchObject({ reason: 'not_found' })
  })

  test.each([[[]], [[first]]])('keeps what a thread has hashed and compressed, %#', async keys => {
    const { store } = await open({ keys, compressFromBytes: 512 })
    const body = bytesOf('a line of text\n'.repeat(200))
    const known = { hash: hash('sha256', body), compressed: compressed(body)! }
    const item = { tenant: 'a', body, mediaType: 'text/plain' }
    const [put] = await store.put([{ ...item, ...known }])
    expect(must(put!)).toMatchObject({ hash: known.hash, bytes: body.length, created: true })
    expect(must(await store.get({ tenant: 'a', ref: known.hash })).body).toEqual(body)
    const [again] = await store.put([item])
    expect(must(again!)).toMatchObject({ hash: known.hash, created: false })
    expect(must(await store.verify(10)).damaged).toBe(0)
  })

  test('writes no text of a client into a key, and all keys of a tenant have one hash tag', async () => {
    const { store, prefix } = await open()
    const names = { tenant: 'acme{x}', session: 'my{session}' }
    await keep(store, noise(200 * KIB, 1), names)
    await keep(store, 'small', names)
    must(
      await store.writeRecord({
        tenant: names.tenant,
        namespace: 'n',
        key: '{k}',
        value: bytesOf('v'),
      }),
    )
    const keys = await keysOf(prefix)
    const ofTenant = keys.filter(key => key.includes('{'))
    const tags = new Set(ofTenant.map(key => /^[^{]*\{([\w-]{22})\}/.exec(key)?.[1]))
    expect(ofTenant.length).toBeGreaterThan(8)
    expect(tags.size).toBe(1)
    expect(keys.join('\n')).not.toMatch(/acme|session|\{k\}/)
  })

  test('leaves nothing when everything has ended', async () => {
    const { store, prefix, clock } = await open({ upkeepMs: NEVER_SWEPT })
    const { hash } = await keep(store, noise(200 * KIB, 1), {
      tenant: 'a',
      session: 's',
      pinUntil: START + DAY,
    })
    await keep(store, 'x', { tenant: 'a', session: 't' })
    must(
      await store.writeRecord({
        tenant: 'a',
        namespace: 'n',
        key: 'k',
        value: bytesOf('v'),
        ttlMs: DAY,
      }),
    )
    clock.now += 2 * DAY
    expect(must(await store.prune())).toMatchObject({ bodies: 2, records: 1 })
    expect(must(await store.stats('a'))).toMatchObject({ bodies: 0, records: 0, stored_bytes: 0 })
    expect(await store.get({ tenant: 'a', ref: hash })).toMatchObject({ reason: 'gone' })
    clock.now += 2 * DAY
    must(await store.prune())
    const left = (await keysOf(prefix)).map(key => key.replace(/^.*\}:(?:\d+:)?/, ''))
    // Tombstones end by themselves; sums, the number of versions and the list of tenants stay.
    const own = left.filter(
      name => !/^t:|:(?:fence|live|contact|processes|sweep|tenants)$/.test(name),
    )
    expect(own.sort()).toEqual(['q', 'v'])
  })

  test('keeps a tenant within its share, and what is pinned within it', async () => {
    const { store, clock } = await open({ tenantMaxBytes: 100 * KIB, compressFromBytes: null })
    const pinned = await keep(store, noise(40 * KIB, 1), { tenant: 'a', pinUntil: START + DAY })
    const hashes: string[] = []
    for (let seed = 2; seed < 8; seed++) {
      hashes.push((await keep(store, noise(20 * KIB, seed))).hash)
    }
    must(await store.get({ tenant: 'a', ref: pinned.hash }))
    must(await store.get({ tenant: 'a', ref: hashes.at(-1)! }))
    expect(await store.get({ tenant: 'a', ref: hashes[0]! })).toMatchObject({ reason: 'gone' })
    expect(must(await store.stats('a')).stored_bytes).toBeLessThanOrEqual(100 * KIB)
    const large = { tenant: 'a', body: noise(62 * KIB, 9), mediaType: 'text/plain' }
    expect(await store.put([large])).toMatchObject([{ ok: false, reason: 'quota' }])
    must((await store.put([{ ...large, tenant: 'b' }]))[0])
    // A pin that has ended protects no more.
    clock.now += 2 * DAY
    must((await store.put([large]))[0])
  })

  test('does not evict what was pinned later than it was kept', async () => {
    const { store, clock } = await open({ tenantMaxBytes: 20 * KIB, upkeepMs: NEVER_SWEPT })
    const { hash: ref } = await keep(store, noise(4 * KIB, 0), { tenant: 'a' })
    const pinned = { tenant: 'a', ref, pinUntil: clock.now + MINUTE }
    for (const touched of await store.touch([pinned])) must(touched)
    for (let i = 1; i < 12; i++) await keep(store, noise(4 * KIB, i), { tenant: 'a' })
    must(await store.get({ tenant: 'a', ref }))
  })

  test('counts a body once that Redis removed and that is kept again', async () => {
    const { store, prefix } = await open({ upkeepMs: NEVER_SWEPT })
    await keep(store, 'x', { tenant: 'a' })
    const before = must(await store.stats('a'))
    const [key] = (await keysOf(prefix)).filter(each => each.includes(':b:')) as [string]
    await redis.ask('DEL', key)
    await keep(store, 'x', { tenant: 'a' })
    expect(must(await store.stats('a'))).toEqual(before)
  })

  test('evicts what was used least recently', async () => {
    const { store, clock } = await open({ tenantMaxBytes: 70 * KIB, compressFromBytes: null })
    const one = await keep(store, noise(20 * KIB, 1))
    clock.now += MINUTE
    const two = await keep(store, noise(20 * KIB, 2))
    clock.now += MINUTE
    must(await store.get({ tenant: 'a', ref: one.hash }))
    must(await store.stats('a'))
    await keep(store, noise(20 * KIB, 3))
    await keep(store, noise(20 * KIB, 4))
    expect(await store.get({ tenant: 'a', ref: two.hash })).toMatchObject({ reason: 'gone' })
    must(await store.get({ tenant: 'a', ref: one.hash }))
  })

  test('seals what it keeps; without the key nothing is given back', async () => {
    const { store, prefix } = await open({ keys: [first] })
    const { hash: ref } = await keep(store, 'a secret text')
    const large = await keep(store, noise(200 * KIB, 1))
    const record = { tenant: 'a', namespace: 'n', key: 'k' }
    must(await store.writeRecord({ ...record, value: bytesOf('a secret record') }))
    for (const key of await keysOf(prefix)) {
      if (/:[brc]:/.test(key)) expect(String(await redis.ask('GET', key))).not.toContain('secret')
    }
    const { store: rotated } = await open({ prefix, keys: [second, first] })
    expect(text(must(await rotated.get({ tenant: 'a', ref })).body)).toBe('a secret text')
    must(await rotated.get({ tenant: 'a', ref: large.hash }))
    const { store: without, events } = await open({ prefix, keys: [second] })
    for (const hash of [ref, large.hash, ref]) {
      expect(await without.get({ tenant: 'a', ref: hash })).toMatchObject({ reason: 'gone' })
    }
    expect(await without.readRecord(record)).toMatchObject({ reason: 'gone' })
    expect(events.filter(({ kind }) => kind === 'missing_key').length).toBeGreaterThan(0)
    must(await store.get({ tenant: 'a', ref }))
  })

  test.each([
    ['a small body', 1 * KIB, /:b:/, 90],
    ['a chunk of a large body', 200 * KIB, /:c:.*:0$/, 90],
    ['the lines of a large body', 200 * KIB, /:b:/, 110],
  ])('finds damage in %s, removes it, and takes it again', async (_, size, part, offset) => {
    const { store, prefix, events } = await open({ compressFromBytes: null })
    const body = Buffer.from(`${'line\n'.repeat(size / 5)}`)
    const { hash: ref } = await keep(store, body)
    const key = (await keysOf(prefix)).find(each => part.test(each)) ?? ''
    await redis.ask('SETRANGE', key, `${offset}`, '\x01\x02\x03')
    const selector = parsePart({ lines: '1-2' })!
    expect(await store.part({ tenant: 'a', ref }, selector)).toMatchObject({ reason: 'gone' })
    expect(await store.get({ tenant: 'a', ref })).toMatchObject({ reason: 'gone' })
    expect(events).toMatchObject([{ kind: 'damaged_body', hash: ref }])
    expect((await keep(store, body)).created).toBe(true)
    expect(must(await store.get({ tenant: 'a', ref })).body.byteLength).toBe(body.byteLength)
    expect(must(await store.stats('a')).bodies).toBe(1)
  })

  test('checks all bodies of all tenants, and removes the damaged ones', async () => {
    const { store, prefix } = await open()
    for (const tenant of ['a', 'b', 'c']) {
      for (let i = 0; i < 5; i++) await keep(store, `${tenant} body ${i}`, { tenant })
    }
    const damaged = (await keysOf(prefix)).filter(key => key.includes(':b:')).slice(0, 2)
    for (const key of damaged) await redis.ask('SETRANGE', key, '90', '\x01\x02')
    const sum = { checked: 0, damaged: 0 }
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const step = must(await store.verify(2, cursor))
      sum.checked += step.checked
      sum.damaged += step.damaged
      cursor = step.cursor
    }
    expect(sum).toEqual({ checked: 15, damaged: 2 })
    expect(must(await store.stats()).bodies).toBe(13)
    expect(await store.verify(2, 'x')).toMatchObject({ reason: 'invalid_request' })
  })

  test('puts a large body again whose chunks are lost', async () => {
    const { store, prefix } = await open({ compressFromBytes: null })
    const body = noise(300 * KIB, 1)
    const { hash: ref } = await keep(store, body)
    const chunk = (await keysOf(prefix)).find(each => each.includes(':c:')) ?? ''
    await redis.ask('DEL', chunk)
    expect((await keep(store, body)).created).toBe(true)
    expect(Buffer.compare(must(await store.get({ tenant: 'a', ref })).body, body)).toBe(0)
    expect(must(await store.stats('a')).bodies).toBe(1)
  })

  test('takes one body from two replicas at once, and keeps it once', async () => {
    const { store: one, prefix } = await open()
    const { store: two } = await open({ prefix })
    const body = noise(300 * KIB, 1)
    const kept = await Promise.all([keep(one, body), keep(two, body), keep(one, body)])
    expect(kept.filter(({ created }) => created)).toHaveLength(1)
    expect(must(await one.stats('a')).bodies).toBe(1)
    must(await two.get({ tenant: 'a', ref: kept[0]!.hash }))
  })

  test('purges a session of a thousand bodies', async () => {
    // Bodies that a sweep removes meanwhile are not counted.
    const { store, prefix } = await open({ upkeepMs: NEVER_SWEPT })
    const put = Array.from({ length: 1_000 }, (_, i) => ({
      tenant: 'a',
      session: 's',
      body: bytesOf(`body ${i}`),
      mediaType: 'text/plain',
    }))
    await store.put(put)
    const { hash } = await keep(store, 'body 1', { tenant: 'a', session: 't' })
    expect(must(await store.purgeSession('a', 's')).bodies).toBe(999)
    must(await store.get({ tenant: 'a', ref: hash.slice(0, 8), session: 't' }))
    expect(must(await store.stats('a')).bodies).toBe(1)
    expect((await keysOf(prefix)).filter(key => /:d[:s]/.test(key))).toEqual([])
  })

  test('removes libraries that no process uses any more, and none that one does', async () => {
    const load = (name: string) =>
      redis.ask(
        'FUNCTION',
        'LOAD',
        `#!lua name=${name}\nredis.register_function('${name}_f', function() return 1 end)`,
      )
    const other = `other_${randomUUID().slice(0, 8)}`
    await load('haversack_0ld')
    await load('haversack_used')
    await load(other)
    const prefix = `test-${randomUUID()}`
    await redis.ask('ZADD', `${prefix}:live`, `${Date.now()}`, 'haversack_used')
    await open({ prefix })
    await expect
      .poll(async () => JSON.stringify(await redis.ask('FUNCTION', 'LIST')))
      .not.toContain('haversack_0ld')
    const left = JSON.stringify(await redis.ask('FUNCTION', 'LIST'))
    expect(left).toContain('haversack_used')
    expect(left).toContain(other)
  })
})
