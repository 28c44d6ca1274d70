import { hash, randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readLibrary } from '../../../src/store/redis/library.ts'
import type { OpenSession, Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { bytesOf, must, NEVER_SWEPT, text } from '../../unit/store/inline-store.ts'

const HOUR = 3_600_000
const CALL = 'ab'.repeat(32)
const TEXT = { identity: 'cd'.repeat(32), bytes: 7 }
const name = { tenant: 'a', session: 's', ttlMs: HOUR }
const withoutRedis = process.env['TEST_WITHOUT_REDIS'] === '1'

const journalOf = ({ journal }: Store) => journal!
/** A result that comes. */
async function open(store: Store, asked: Partial<OpenSession> = {}) {
  return must(await journalOf(store).open({ ...name, calls: [''], has: null, ...asked }))
}
/** What the result changed. */
async function append(store: Store, epoch: number, value: string) {
  return journalOf(store).append({ ...name, epoch, bytes: bytesOf(value), texts: [TEXT] })
}
/** A text that takes so many bytes, however it is compressed. */
const loose = (bytes: number) => randomBytes(bytes).toString('base64')
const valuesOf = ({ changes }: { readonly changes: readonly { readonly bytes: Uint8Array }[] }) =>
  changes.map(({ bytes }) => text(bytes))

describe.skipIf(withoutRedis)('a journal in Redis', () => {
  let redis: RedisProcess

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const start = (options: Parameters<typeof redisStore>[1] = {}) => redisStore(redis.url, options)
  /** Two processes with one prefix. */
  async function two(options: Parameters<typeof redisStore>[1] = {}) {
    const one = await start({ upkeepMs: NEVER_SWEPT, ...options })
    const other = await start({ upkeepMs: NEVER_SWEPT, ...options, ...one })
    return { one: one.store, other: other.store, clock: one.clock, prefix: one.prefix }
  }

  /** Overwrites bytes of the state of the only session. */
  async function setState(prefix: string, at: number, ...bytes: readonly number[]) {
    const [key] = (await redis.ask('KEYS', `${prefix}:*:j:*`)) as [string]
    const script = `
      local old = redis.call('LINDEX', KEYS[1], -1)
      local at = tonumber(ARGV[1])
      local new = string.char(${bytes.join(', ')})
      return redis.call('LSET', KEYS[1], -1, old:sub(1, at) .. new .. old:sub(at + #new + 1))`
    await redis.ask('EVAL', script, '1', key, `${at}`)
  }

  test('counts each result once, whichever process asks, and a retry as its first try', async () => {
    const { one, other } = await two()
    const first = await open(one, { calls: [CALL] })
    expect(first).toMatchObject({ sequences: [1], results: 1, partition: 0, from: 0, to: 0 })
    expect((await open(other)).sequences).toEqual([2])
    expect(await open(other, { calls: [CALL] })).toMatchObject({ sequences: [1], results: 2 })
    expect((await open(one, { calls: ['ef'.repeat(32)] })).sequences).toEqual([3])
    expect(await open(one, { calls: [] })).toMatchObject({ results: 3 })
    expect(await open(one, { calls: [] })).toHaveProperty('sequences', [])
    expect((await open(one, { session: 'other' })).sequences).toEqual([1])
    expect((await open(one, { tenant: 'b' })).sequences).toEqual([1])
  })

  test('does not take a part of one call and its number for another call', async () => {
    const { one } = await two()
    const half = 'aabbccdd'
    expect((await open(one, { calls: [`00000000${half}`] })).sequences).toEqual([1])
    expect((await open(one, { calls: [`${half}01000000`] })).sequences).toEqual([2])
  })

  test('is removed by Redis itself if no process sweeps, an hour after its end', async () => {
    const { one, prefix } = await two()
    const calls = Array.from({ length: 33 }, (_, i) => `${i + 1}`.padStart(16, '0'))
    // The last one makes a key of the others.
    await open(one, { calls: calls.slice(0, 32) })
    await open(one, { calls: calls.slice(32) })
    const keys = (await redis.ask('KEYS', `${prefix}:*`)) as string[]
    const ofSession = keys.filter(key => /:(?:j|k|ko):/.test(key))
    expect(ofSession).toHaveLength(2)
    for (const key of ofSession) {
      const left = Number(await redis.ask('PTTL', key))
      expect([left > HOUR, left <= 2 * HOUR]).toEqual([true, true])
      await redis.ask('DEL', key)
    }
    const stored = async () => must(await one.stats('a')).stored_bytes
    expect(await stored()).toBeGreaterThan(0)
    must(await one.purgeSession('a', 's'))
    expect(await stored()).toBe(0)
  })

  test('remembers more than a thousand calls, and gives the room of older ones back', async () => {
    const { one } = await two()
    const callOf = (i: number) => ({ calls: [`${i}`.padStart(16, '0')] })
    for (let i = 1; i <= 2_100; i++) await open(one, callOf(i))
    // Those that came last are known, whatever had to go.
    expect(await open(one, callOf(1_100))).toMatchObject({ sequences: [1_100], results: 2_100 })
    // One of each: in the older hash, in the newer one, in the state itself.
    for (const i of [2_048, 2_060, 2_100]) {
      expect((await open(one, callOf(i))).sequences).toEqual([i])
    }
    const { stored_bytes } = must(await one.stats('a'))
    expect(stored_bytes).toBeLessThan(2_048 * 60 + 1_000)
    must(await journalOf(one).compact(name))
    expect(must(await one.stats('a')).stored_bytes).toBeLessThan(1_000)
  })

  test('counts results that come at once, each with a number of its own', async () => {
    const { one, other } = await two()
    const opened = await Promise.all(
      Array.from({ length: 40 }, (_, i) => open(i % 2 === 0 ? one : other)),
    )
    const numbers = opened.flatMap(({ sequences }) => sequences).sort((a, b) => a - b)
    expect(numbers).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
  })

  test('gives a process what others have changed since it last asked', async () => {
    const { one, other } = await two()
    const { epoch } = await open(one)
    expect(await append(one, epoch, 'first')).toEqual({ ok: true, number: 1 })
    const seen = await open(other)
    expect(seen).toMatchObject({ epoch, from: 0, to: 1, isBroken: false })
    expect(seen.changes).toEqual([{ bytes: Buffer.from('first'), texts: [TEXT] }])
    expect(await append(other, epoch, 'second')).toEqual({ ok: true, number: 2 })
    const has = (applied: number) => ({ has: { epoch, applied } })
    // Its own changes it has already, unless it has forgotten the session.
    expect(valuesOf(await open(one, has(1)))).toEqual(['second'])
    expect(valuesOf(await open(other, has(1)))).toEqual([])
    expect(valuesOf(await open(one))).toEqual(['first', 'second'])
    expect(await open(one, has(2))).toMatchObject({ from: 2, to: 2, changes: [] })
    // It has nothing of another life of the session.
    expect(await open(one, { has: { epoch: epoch + 1, applied: 2 } })).toMatchObject({ from: 0 })
  })

  test.each([
    ['plain', {}],
    ['sealed', { keys: [{ id: 'k', key: Buffer.alloc(32, 7) }] }],
  ])('brings texts along, the newest first, as far as there is room (%s)', async (_, options) => {
    const { one, other, prefix, clock } = await two({ ...options, openBytes: 7_000 })
    const { epoch } = await open(one)
    const contents = ['a', 'b', 'c'].map(each => `${each} ${randomBytes(1_500).toString('hex')}`)
    const large = 'x'.repeat(100_000)
    const identityOf = (content: string) => hash('sha256', content)
    for (const content of [...contents, large]) {
      const body = bytesOf(content)
      const item = { tenant: 'a', body, mediaType: 'text/plain', ttlMs: HOUR }
      for (const put of await one.put([item])) must(put)
      const texts = [{ identity: identityOf(content), bytes: body.length }]
      must(await journalOf(one).append({ ...name, epoch, bytes: bytesOf('change'), texts }))
    }
    const textsOf = async (store: Store, has: OpenSession['has'] = null) =>
      [...(await open(store, { has })).texts].map(([identity, { bytes, media_type }]) => {
        expect([identityOf(text(bytes)), media_type]).toEqual([identity, 'text/plain'])
        return text(bytes)
      })
    // One in parts is fetched by itself.
    expect(await textsOf(other)).toEqual([contents[2], contents[1]])
    expect(await textsOf(other, { epoch, applied: 2 })).toEqual([contents[2]])
    expect(await textsOf(other, { epoch, applied: 4 })).toEqual([])
    // A process has its own texts, unless it has forgotten the session.
    expect(await textsOf(one, { epoch, applied: 1 })).toEqual([])
    expect(await textsOf(one)).toHaveLength(2)
    const none = await redisStore(redis.url, { ...options, prefix, clock, openBytes: 0 })
    expect(await textsOf(none.store)).toEqual([])
    must(await one.purgeSession('a', 's'))
    expect(await textsOf(other)).toEqual([])
  })

  test('begins another epoch with a compaction; what was on its way does not join it', async () => {
    const { one, other, prefix } = await two()
    const { epoch } = await open(one, { calls: [CALL] })
    must(await append(one, epoch, 'before'))
    expect(await journalOf(other).compact(name)).toEqual({ ok: true, partition: 1 })
    expect(await append(one, epoch, 'late')).toMatchObject({ reason: 'conflict' })
    const [list] = (await redis.ask('KEYS', `${prefix}:*:j:*`)) as [string]
    // Only the state is left.
    expect(await redis.ask('LLEN', list)).toBe(1)
    const next = await open(one, { calls: [CALL], has: { epoch, applied: 1 } })
    expect(next).toMatchObject({ partition: 1, sequences: [2], from: 0, to: 0, changes: [] })
    expect(next.epoch).not.toBe(epoch)
    expect(await journalOf(one).compact({ ...name, session: 'unknown' })).toEqual({
      ok: true,
      partition: null,
    })
  })

  test('knows a call from before a missed turn, but not its number', async () => {
    const { one, other } = await two()
    await open(one, { calls: [CALL] })
    await journalOf(other).restart(name)
    const again = await open(one, { calls: [CALL, 'ef'.repeat(32)] })
    expect(again).toMatchObject({ sequences: [0, 2], results: 2 })
  })

  test('knows nothing of a session that was closed, purged, or idle for too long', async () => {
    const { one, other, clock } = await two()
    const unknown = { ...name, calls: [], has: null }
    const before = await open(one)
    must(await other.purgeSession('a', 's'))
    expect(await journalOf(one).open(unknown)).toMatchObject({ reason: 'not_found' })
    expect(await append(one, before.epoch, 'x')).toMatchObject({ reason: 'not_found' })
    const second = await open(one)
    expect(second).toMatchObject({ sequences: [1], partition: 0 })
    must(await other.purgeTenant('a'))
    expect(await journalOf(one).open(unknown)).toMatchObject({ reason: 'not_found' })
    const third = await open(one)
    clock.now += HOUR + 1
    expect(await journalOf(one).open(unknown)).toMatchObject({ reason: 'not_found' })
    const epochs = [before, second, third, await open(one)].map(({ epoch }) => epoch)
    expect(new Set(epochs).size).toBe(4)
  })

  test('says that a process has been away for too many changes', async () => {
    const { one, other } = await two()
    const { epoch } = await open(one)
    for (let i = 1; i <= 600; i++) must(await append(one, epoch, `${i}`))
    const late = await open(other, { has: { epoch, applied: 10 } })
    expect(late).toMatchObject({ from: 88, to: 600, isBroken: true })
    expect(valuesOf(late)).toHaveLength(512)
    expect(valuesOf(late)[0]).toBe('89')
    expect(await open(other, { has: { epoch, applied: 88 } })).toMatchObject({ isBroken: false })
    // Large ones are kept up to 1 MiB.
    for (let i = 1; i <= 5; i++) must(await append(one, epoch, loose(250_000)))
    expect(valuesOf(await open(other))).toHaveLength(3)
  })

  test('takes part in the share of its tenant, and gives all of it back', async () => {
    const { one, clock, prefix } = await two({ tenantMaxBytes: 20_000 })
    const { epoch } = await open(one, { calls: [CALL] })
    must(await append(one, epoch, loose(10_000)))
    const { stored_bytes } = must(await one.stats('a'))
    expect(stored_bytes).toBeGreaterThan(10_000)
    expect(await append(one, epoch, loose(10_000))).toMatchObject({ reason: 'quota' })
    must(await journalOf(one).compact(name))
    expect(must(await one.stats('a')).stored_bytes).toBeLessThan(1_000)
    must(await append(one, (await open(one)).epoch, loose(5_000)))
    clock.now += 2 * HOUR
    must(await one.prune())
    expect(must(await one.stats('a')).stored_bytes).toBe(0)
    const left = (await redis.ask('KEYS', `${prefix}:*`)) as string[]
    expect(left.filter(key => /:(?:[jk]|ko):|:si$/.test(key))).toEqual([])
  })

  test('seals what is changed, for its session only', async () => {
    const key = { id: 'one', key: Buffer.alloc(32, 7) }
    const { one, other, prefix } = await two({ keys: [key] })
    const { epoch } = await open(one)
    must(await append(one, epoch, 'secret'))
    expect(valuesOf(await open(other))).toEqual(['secret'])
    const listOf = async (ours: readonly string[] = []) =>
      ((await redis.ask('KEYS', `${prefix}:*:j:*`)) as string[]).find(key => !ours.includes(key))!
    const list = await listOf()
    const stored = String(await redis.ask('LINDEX', list, '0'))
    expect(stored).not.toContain('secret')
    const foreign = { ...name, session: 'other' }
    const { epoch: its } = await open(one, foreign)
    must(await journalOf(one).append({ ...foreign, epoch: its, bytes: bytesOf('x'), texts: [] }))
    await redis.ask('COPY', list, await listOf([list]), 'REPLACE')
    // What cannot be read has unknown effects.
    expect(valuesOf(await open(other, { session: 'other' }))).toEqual([''])
  })

  test('counts a turn at once only if nothing else was counted, and within the share', async () => {
    const { one, prefix } = await two({ tenantMaxBytes: 20_000 })
    const { epoch } = await open(one, { calls: [CALL] })
    const settle = (call: string, results: number, last: number, bytes = 10) => {
      const change = { bytes: randomBytes(bytes), texts: [TEXT] }
      return journalOf(one).settle({ ...name, ...change, epoch, call, results, last })
    }
    const [second, third] = ['12'.repeat(32), '34'.repeat(32)]
    expect(await settle(second, 1, 0)).toEqual({ ok: true, number: 1 })
    const conflict = { ok: false, reason: 'conflict' }
    // A call that was counted, and turns that do not know the last result or the last change.
    expect(await settle(second, 2, 1)).toMatchObject(conflict)
    expect(await settle(CALL, 2, 1)).toMatchObject(conflict)
    expect(await settle(third, 1, 1)).toMatchObject(conflict)
    expect(await settle(third, 2, 0)).toMatchObject(conflict)
    expect(await settle(third, 2, 1, 30_000)).toMatchObject({ ok: false, reason: 'quota' })
    expect(await settle(third, 2, 1)).toEqual({ ok: true, number: 2 })
    // Another server than the one of the last turn may lack some.
    await setState(prefix, 56, 'x'.charCodeAt(0))
    expect(await settle('56'.repeat(32), 3, 2)).toMatchObject(conflict)
    expect((await open(one)).epoch).not.toBe(epoch)
  })

  test('leaves a session of a later layout alone', async () => {
    const { one, prefix } = await two()
    const { epoch } = await open(one)
    await setState(prefix, 0, 2)
    const failed = { ok: false, reason: 'failed' }
    expect(await journalOf(one).open({ ...name, calls: [], has: null })).toMatchObject(failed)
    expect(await append(one, epoch, 'x')).toMatchObject(failed)
    expect(await journalOf(one).compact(name)).toMatchObject(failed)
    must(await one.prune())
    await setState(prefix, 0, 1)
    expect(await open(one)).toMatchObject({ epoch, sequences: [2] })
  })

  test('ends an epoch that has as many changes as can be counted', async () => {
    const { one, prefix } = await two()
    const { epoch } = await open(one)
    await setState(prefix, 49, 255, 127)
    expect(await append(one, epoch, 'more')).toMatchObject({ reason: 'conflict' })
    const next = await open(one)
    expect(next).toMatchObject({ from: 0, to: 0, sequences: [2] })
    expect(await append(one, next.epoch, 'first')).toEqual({ ok: true, number: 1 })
  })
})

describe.skipIf(withoutRedis)('a session whose turns were missed', () => {
  let redis: RedisProcess

  beforeEach(async () => {
    redis = await startRedis()
  })
  afterEach(() => redis.stop())

  const start = (options: Parameters<typeof redisStore>[1] = {}) =>
    redisStore(redis.url, { callTimeoutMs: 200, probeMs: 50, silentMs: 250, ...options })

  test('begins again for all, before the process that missed one uses it', async () => {
    const one = await start()
    const other = await start({ clock: one.clock, prefix: one.prefix })
    const { epoch } = await open(one.store)
    // Only one call fails, so no process has seen an outage.
    await redis.ask('CLIENT', 'PAUSE', '700', 'ALL')
    const missed = await journalOf(one.store).open({ ...name, calls: [''], has: null })
    expect(missed).toMatchObject({ ok: false, reason: 'unavailable' })
    // Until that is told, the process that missed it does not use the session.
    await eventually(async () => expect((await open(one.store)).epoch).not.toBe(epoch))
    expect((await open(other.store)).epoch).not.toBe(epoch)
  })

  test('begins again before a turn is answered that a full server did not count', async () => {
    const one = await start()
    const other = await start({ clock: one.clock, prefix: one.prefix })
    const { epoch } = await open(one.store)
    await redis.ask('CONFIG', 'SET', 'maxmemory', '1')
    const refused = await journalOf(one.store).open({ ...name, calls: [''], has: null })
    expect(refused).toMatchObject({ ok: false, reason: 'full' })
    await redis.ask('CONFIG', 'SET', 'maxmemory', '0')
    expect((await open(other.store)).epoch).not.toBe(epoch)
  })

  test('has no sure distances while a process is silent that may have missed some', async () => {
    const one = await start()
    const other = await start({ clock: one.clock, prefix: one.prefix })
    const isUnsure = async () => (await open(one.store)).isUnsure
    await eventually(async () => expect(await isUnsure()).toBe(false))
    const [seconds] = (await redis.ask('TIME')) as [string]
    const silent = (ago: number) => `${(Number(seconds) - ago) * 1_000}`
    const contact = `${one.prefix}:contact`
    await redis.ask('ZADD', contact, silent(5), 'silent')
    expect(await isUnsure()).toBe(true)
    await redis.ask('ZREM', contact, 'silent')
    await eventually(async () => expect(await isUnsure()).toBe(false))
    // After a minute it counts as ended, and one that ends in order is not waited for.
    await redis.ask('ZADD', contact, silent(70), 'silent')
    await eventually(async () => expect(await isUnsure()).toBe(false))
    await eventually(async () => expect(await redis.ask('ZCARD', contact)).toBe(2))
    await other.store.close()
    expect(await redis.ask('ZCARD', contact)).toBe(1)
  })

  test('has none either until all have come back that a lost list of processes had', async () => {
    const one = await start()
    const contact = `${one.prefix}:contact`
    await eventually(async () => expect(await redis.ask('ZCARD', contact)).toBe(1))
    const [own = ''] = (await redis.ask('ZRANGE', contact, '0', '0')) as string[]
    const scoreOf = async () => Number(await redis.ask('ZSCORE', contact, own))
    const [seconds] = (await redis.ask('TIME')) as [string]
    await redis.ask('ZADD', contact, `${Number(seconds) - 1}000`, 'away')
    const isUnsure = async () => (await open(one.store)).isUnsure
    expect(await isUnsure()).toBe(true)
    // Once it has said twice that it is there, it has been told of the other one.
    for (let word = 0; word < 2; word++) {
      const own = await scoreOf()
      await eventually(async () => expect(await scoreOf()).toBeGreaterThan(own))
    }
    await redis.ask('DEL', contact)
    await eventually(async () => expect(await redis.ask('ZCARD', contact)).toBe(2))
    expect(await isUnsure()).toBe(true)
    await redis.ask('ZREM', contact, 'away')
    await eventually(async () => expect(await isUnsure()).toBe(false))
  })

  test('is not taken for complete by a word of a process that comes late', async () => {
    const { prefix } = await start()
    const contact = `${prefix}:contact`
    await eventually(async () => expect(await redis.ask('ZCARD', contact)).toBe(1))
    const [seconds] = (await redis.ask('TIME')) as [string]
    const note = (latest: string) =>
      redis.ask('FCALL', readLibrary().functionOf('note_contact'), '1', contact, 'p', '250', latest)
    expect(await note(`${Number(seconds) - 1}000`)).toEqual([1])
    expect(await redis.ask('ZSCORE', contact, 'p')).toBeNull()
    expect(await note(`${Number(seconds) + 60}000`)).toContain('p')
    expect(await redis.ask('ZSCORE', contact, 'p')).not.toBeNull()
  })

  test('is not counted by a call that comes after its caller gave it up', async () => {
    const { store, prefix } = await start()
    await open(store)
    process.kill(redis.pid, 'SIGSTOP')
    // The call waits in the server's socket.
    const late = journalOf(store).open({ ...name, calls: [''], has: null })
    await eventually(() => expect(store.load.state).toBe('unavailable'))
    expect(await late).toMatchObject({ reason: 'unavailable' })
    process.kill(redis.pid, 'SIGCONT')
    const other = await start({ prefix })
    expect((await open(other.store, { calls: [] })).results).toBe(1)
  })

  test.each(['session', 'tenant'])('is not purged late with its %s', async what => {
    const { store, prefix, clock } = await start()
    const body = bytesOf('kept')
    const item = { tenant: 'a', body, mediaType: 'text/plain', session: 's', ttlMs: HOUR }
    for (const put of await store.put([item])) must(put)
    process.kill(redis.pid, 'SIGSTOP')
    const late = what === 'session' ? store.purgeSession('a', 's') : store.purgeTenant('a')
    await eventually(() => expect(store.load.state).toBe('unavailable'))
    expect(await late).toMatchObject({ reason: 'unavailable' })
    process.kill(redis.pid, 'SIGCONT')
    const other = await start({ prefix, clock })
    must(await other.store.get({ tenant: 'a', session: 's', ref: hash('sha256', 'kept') }))
  })

  test('is not missed if the connection is back at once; it begins again all the same', async () => {
    const { store } = await start()
    const { epoch } = await open(store)
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    const next = await open(store)
    expect(next.sequences).toEqual([2])
    expect(next.epoch).not.toBe(epoch)
  })

  test('begins again after an outage, also for a process that has not used it', async () => {
    const one = await start()
    const other = await start({ clock: one.clock, prefix: one.prefix })
    const { epoch } = await open(one.store)
    process.kill(redis.pid, 'SIGSTOP')
    await journalOf(other.store).open({ ...name, session: 't', calls: [''], has: null })
    await eventually(() => expect(other.store.load.state).toBe('unavailable'))
    process.kill(redis.pid, 'SIGCONT')
    await eventually(() => expect(other.store.load.state).toBe('open'))
    one.clock.now += HOUR / 2
    const again = await open(other.store)
    expect(again.epoch).not.toBe(epoch)
    // Once, not at every turn. The process that has not used it may have more to tell.
    await eventually(async () => {
      const { epoch: before } = await open(other.store)
      one.clock.now += 1
      expect((await open(other.store)).epoch).toBe(before)
    })
  })
})
