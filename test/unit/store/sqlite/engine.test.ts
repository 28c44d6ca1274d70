import { describe, expect, test } from 'vitest'
import { bytesOf, MINUTE, must, noise, START } from '../inline-store.ts'
import { memoryEngine } from './memory-engine.ts'

const MIB = 1024 * 1024
/** What a body of `n` bytes that is not compressed is counted as: its chunk, and its rows. */
const charge = (n: number) => 400 + 5 + n

describe('figures', () => {
  test('count what is kept, and what was done', () => {
    const { engine, clock, put, counters } = memoryEngine()
    const { hash: ref } = put('12345')
    put('12345')
    put('1', { tenant: 'b', ttlMs: MINUTE })
    must(engine.writes.writeRecord({ tenant: 'b', namespace: 'n', key: 'kk', value: bytesOf('v') }))
    must(engine.reads.get({ tenant: 'a', ref }))
    engine.reads.get({ tenant: 'b', ref })
    expect(must(engine.reads.stats('a'))).toEqual({
      ok: true,
      bodies: 1,
      records: 0,
      stored_bytes: charge(5),
    })
    expect(must(engine.reads.stats('b'))).toMatchObject({
      records: 1,
      // The record's checksum, value, key twice, and row.
      stored_bytes: charge(1) + 5 + 1 + 2 * 2 + 120,
    })
    clock.now += MINUTE
    must(engine.writes.expire())
    expect(engine.reads.stats(undefined)).toEqual({
      ok: true,
      bodies: 1,
      records: 1,
      stored_bytes: charge(5) + 130,
      file: {
        max_bytes: 1024 * MIB,
        file_bytes: 0,
        wal_bytes: 0,
        free_bytes: 0,
        tombstones: 1,
        tenants: 2,
      },
      counters: {
        created: 2,
        refreshed: 1,
        hits: 1,
        misses: 1,
        expired: 1,
        evicted: 0,
        damaged: 0,
        refused: 0,
        commits: 0,
      },
    })
    expect(counters.created).toBe(2)
  })

  test('of a tenant that is unknown are none', () => {
    const nothing = { ok: true, bodies: 0, records: 0, stored_bytes: 0 }
    expect(memoryEngine().engine.reads.stats('nobody')).toEqual(nothing)
  })

  test('of chunks are added up', () => {
    const { engine, put } = memoryEngine()
    put(noise(65_536 + 10, 1))
    expect(must(engine.reads.stats('a')).stored_bytes).toBe(65_536 + 10 + 400 + 2 * 5)
  })
})

describe('what has expired', () => {
  test('goes in steps of 64, bodies and records, the oldest first', () => {
    const { engine, clock, put } = memoryEngine()
    for (let i = 0; i < 65; i++) {
      put(`body ${i}`, { ttlMs: MINUTE - i })
      const key = { tenant: 'a', namespace: 'n', key: `k${i}` }
      must(engine.writes.writeRecord({ ...key, value: bytesOf(''), ttlMs: MINUTE }))
    }
    const last = put('body 0').hash
    expect(engine.upkeepDue()).toBe(false)
    clock.now += MINUTE - 64
    expect(engine.upkeepDue()).toBe(true)
    expect(engine.writes.expire()).toEqual({ ok: true, bodies: 1, records: 0, done: false })
    expect(engine.writes.expire()).toEqual({ ok: true, bodies: 0, records: 0, done: true })
    expect(engine.upkeepDue()).toBe(false)
    clock.now += 64
    expect(engine.writes.expire()).toEqual({ ok: true, bodies: 63, records: 64, done: false })
    expect(engine.upkeepDue()).toBe(true)
    expect(engine.writes.expire()).toEqual({ ok: true, bodies: 0, records: 1, done: false })
    expect(engine.writes.expire()).toMatchObject({ done: true })
    expect(engine.upkeepDue()).toBe(false)
    must(engine.reads.get({ tenant: 'a', ref: last }))
  })

  test('leaves tombstones that end, 256 at once', () => {
    const { engine, clock, put, reasonOf } = memoryEngine({ tombstoneMs: MINUTE })
    const refs = Array.from({ length: 300 }, (_, i) => put(`body ${i}`, { ttlMs: 1 }).hash)
    clock.now += 1
    while (!must(engine.writes.expire()).done);
    const get = (ref: string) => reasonOf(engine.reads.get({ tenant: 'a', ref }))
    const stones = () => must(engine.reads.stats(undefined)).file?.tombstones
    expect([get(refs[0]!), stones()]).toEqual(['gone', 300])
    clock.now += MINUTE - 1
    expect(engine.upkeepDue()).toBe(false)
    expect(get(refs[0]!)).toBe('gone')
    clock.now += 1
    expect(engine.upkeepDue()).toBe(true)
    expect(get(refs[0]!)).toBe('not_found')
    must(engine.writes.upkeep())
    expect(stones()).toBe(44)
    must(engine.writes.upkeep())
    expect(stones()).toBe(0)
    expect(engine.upkeepDue()).toBe(false)
  })

  test('leaves no tombstones if none are wanted', () => {
    const { engine, clock, put, reasonOf } = memoryEngine({ maxTombstones: 0 })
    const { hash: ref } = put('x', { ttlMs: 1 })
    clock.now += 1
    must(engine.writes.expire())
    expect(reasonOf(engine.reads.get({ tenant: 'a', ref }))).toBe('not_found')
    expect(must(engine.reads.stats(undefined)).file?.tombstones).toBe(0)
  })

  test('a tombstone of one hash is not another’s, and goes when the body is there again', () => {
    const { engine, clock, put, reasonOf } = memoryEngine()
    const { hash: ref } = put('x', { ttlMs: 1 })
    clock.now += 1
    must(engine.writes.expire())
    const other = ref.slice(0, 12) + (ref[12] === '0' ? '1' : '0')
    expect(reasonOf(engine.reads.get({ tenant: 'a', ref: ref.slice(0, 13) }))).toBe('gone')
    expect(reasonOf(engine.reads.get({ tenant: 'a', ref: other }))).toBe('not_found')
    put('x')
    expect(must(engine.reads.stats(undefined)).file?.tombstones).toBe(0)
    must(engine.writes.disownTenant('a'))
    while (engine.upkeepDue()) must(engine.writes.upkeep())
    expect(must(engine.reads.stats(undefined)).file).toMatchObject({ tombstones: 0, tenants: 0 })
  })
})

describe('a purge', () => {
  test('of a session takes 64 links at once, and upkeep goes on with what is left', () => {
    const { engine, put } = memoryEngine()
    for (let i = 0; i < 150; i++) put(`body ${i}`, { session: 's' })
    put('shared', { session: 's' })
    put('shared', { session: 't' })
    const first = must(engine.writes.disownSession('a', 's'))
    expect(first).toMatchObject({ bodies: 64, done: false })
    expect(must(engine.writes.purgeSession(first.id))).toEqual({
      ok: true,
      // One of the links was to the body that another session keeps.
      bodies: 63,
      records: 0,
      done: false,
    })
    expect(engine.upkeepDue()).toBe(true)
    expect(must(engine.writes.upkeep())).toMatchObject({ bodies: 23 })
    expect(engine.upkeepDue()).toBe(false)
    expect(must(engine.writes.purgeSession(first.id))).toMatchObject({ bodies: 0, done: true })
    expect(must(engine.reads.stats('a')).bodies).toBe(1)
  })

  test('of a tenant reports all at first, and takes 64 of each sort at once', () => {
    const { engine, put } = memoryEngine()
    for (let i = 0; i < 70; i++) {
      put(`body ${i}`, { session: `s${i}` })
      const key = { tenant: 'a', namespace: 'n', key: `k${i}` }
      must(engine.writes.writeRecord({ ...key, value: bytesOf('v') }))
    }
    put('other', { tenant: 'b' })
    const first = must(engine.writes.disownTenant('a'))
    expect(first).toMatchObject({ bodies: 70, records: 70, done: false })
    expect(must(engine.reads.stats('a'))).toMatchObject({ bodies: 0, records: 0 })
    const step = () => must(engine.writes.purgeTenant(first.id))
    expect(step()).toEqual({ ok: true, bodies: 64, records: 64, done: false })
    expect(step()).toEqual({ ok: true, bodies: 6, records: 6, done: false })
    while (!step().done);
    expect(must(engine.reads.stats(undefined))).toMatchObject({
      bodies: 1,
      records: 0,
      file: { tenants: 1 },
    })
    expect(must(engine.writes.disownTenant('a'))).toMatchObject({ bodies: 0, done: true })
  })

  test('of what had expired leaves a tombstone, as sweeping would have', () => {
    const { engine, clock, put, reasonOf } = memoryEngine()
    const { hash: early } = put('early', { session: 's', ttlMs: MINUTE })
    const { hash: late } = put('late', { session: 's', ttlMs: MINUTE + 1 })
    clock.now += MINUTE
    expect(must(engine.writes.disownSession('a', 's'))).toMatchObject({ bodies: 2, done: true })
    const get = (ref: string) => reasonOf(engine.reads.get({ tenant: 'a', ref }))
    expect([get(early), get(late)]).toEqual(['gone', 'not_found'])
  })
})

describe('room', () => {
  test('for a tenant is made of its own, the least recently used first', () => {
    const share = 3 * charge(100)
    const { engine, put, reasonOf, counters } = memoryEngine({ tenantMaxBytes: share })
    const other = put(noise(100, 9), { tenant: 'b' })
    const [one, two, three] = [1, 2, 3].map(i => put(noise(100, i)).hash)
    must(engine.reads.get({ tenant: 'a', ref: one! }))
    // A read counts once the next transaction has begun.
    engine.begun()
    const four = put(noise(100, 4)).hash
    const get = (ref: string) => reasonOf(engine.reads.get({ tenant: 'a', ref }))
    expect([one!, two!, three!, four].map(get)).toEqual(['ok', 'gone', 'ok', 'ok'])
    expect(counters.evicted).toBe(1)
    must(engine.reads.get({ tenant: 'b', ref: other.hash }))
    expect(must(engine.reads.stats('a')).stored_bytes).toBe(share)
    // A byte more needs the room of two.
    put(noise(101, 5))
    expect(must(engine.reads.stats('a')).bodies).toBe(2)
  })

  test('is refused if a body alone is above the share, or pins hold it until they run out', () => {
    const { engine, clock, put } = memoryEngine({ tenantMaxBytes: charge(100) })
    const item = (i: number, n = 100) => ({ tenant: 'a', body: noise(n, i), mediaType: 'x' })
    expect(engine.writes.put(item(1, 101))).toMatchObject({ reason: 'quota' })
    put(noise(100, 1), { pinUntil: START + MINUTE })
    expect(engine.writes.put(item(2))).toMatchObject({ reason: 'quota' })
    clock.now += MINUTE - 1
    expect(engine.writes.put(item(2))).toMatchObject({ reason: 'quota' })
    expect(engine.upkeepDue()).toBe(false)
    clock.now += 1
    expect(engine.upkeepDue()).toBe(true)
    must(engine.writes.put(item(2)))
  })

  test('is made of 512 bodies at most, and the next put finds it', () => {
    const bodies = 600
    const { engine, put, counters } = memoryEngine({ tenantMaxBytes: bodies * charge(3) })
    for (let i = 0; i < bodies; i++) put(noise(3, i))
    const before = must(engine.reads.stats('a')).bodies
    const large = { tenant: 'a', body: noise(bodies * charge(3) - 400 - 4 * 5, 1), mediaType: 'x' }
    expect(engine.writes.put(large)).toMatchObject({
      reason: 'busy',
      detail: 'room is being made, try again',
    })
    expect(counters.evicted).toBe(512)
    must(engine.writes.put(large))
    expect(counters.evicted).toBe(before)
  })

  test('of the file is made before it is full', () => {
    const { engine, put, counters } = memoryEngine({ maxBytes: 4 * MIB })
    // 960 pages, of which 7 stay free and 29 are the low water; a body takes 11.
    while (!engine.upkeepDue()) put(noise(40_000, counters.created))
    expect(counters).toMatchObject({ evicted: 0 })
    expect(counters.created).toBeGreaterThan(86)
    expect(counters.created).toBeLessThan(93)
    const { bodies } = must(engine.writes.upkeep())
    expect(bodies).toBe(1)
    expect(counters.evicted).toBe(1)
    expect(engine.upkeepDue()).toBe(false)
  })
})

test('the order of use goes on from the file’s, and never back with the clock', () => {
  const { engine, database, clock, put, open } = memoryEngine()
  const used = () =>
    database
      .prepare('SELECT used FROM body ORDER BY id')
      .all()
      .map(row => row['used'])
  put('one')
  put('two')
  clock.now -= MINUTE
  put('three')
  expect(used()).toEqual([START, START + 1, START + 2])
  const again = open()
  must(again.writes.put({ tenant: 'a', body: bytesOf('four'), mediaType: 'x' }))
  expect(used().at(-1)).toBe(START + 3)
  clock.now = START + MINUTE
  put('five')
  expect(used().at(-1)).toBe(START + MINUTE)
  engine.begun()
  expect(used()).toHaveLength(5)
})

test('at most 256 reads are noted until the next transaction', () => {
  const { engine, database, put, clock } = memoryEngine()
  const refs = Array.from({ length: 257 }, (_, i) => put(`body ${i}`).hash)
  clock.now += MINUTE
  for (const ref of refs) must(engine.reads.get({ tenant: 'a', ref }))
  engine.begun()
  const later = database.prepare('SELECT count(*) AS later FROM body WHERE used >= ?')
  expect(later.get(clock.now)).toEqual({ later: 256 })
  // They are forgotten once they are written.
  clock.now += MINUTE
  engine.begun()
  expect(later.get(clock.now)).toEqual({ later: 0 })
})

test('unused pages are given back when there are 256, or an eighth, 64 at once', () => {
  const { engine, database, put } = memoryEngine()
  const free = () => Number(database.prepare('PRAGMA freelist_count').get()?.['freelist_count'])
  expect(engine.shrink()).toBe(false)
  for (let i = 0; i < 30; i++) put(noise(40_000, i), { tenant: `t${i % 3}` })
  const purge = (tenant: string) => {
    const { id } = must(engine.writes.disownTenant(tenant))
    while (!must(engine.writes.purgeTenant(id)).done);
  }
  purge('t0')
  purge('t1')
  expect(free()).toBeLessThan(256)
  expect(engine.shrink()).toBe(false)
  purge('t2')
  const before = free()
  expect(before).toBeGreaterThanOrEqual(256)
  expect(engine.shrink()).toBe(true)
  expect(before - free()).toBe(64)
})
