import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { bytesOf, keep, must, NEVER_SWEPT, noise, text } from '../../unit/store/inline-store.ts'

const KIB = 1024
const DAY = 86_400_000

/** Waits until processes have looked at the server twice more. */
async function looks(redis: RedisProcess): Promise<void> {
  const count = async () => {
    const calls = /cmdstat_info:calls=(\d+)/.exec(String(await redis.ask('INFO', 'commandstats')))
    return Number(calls?.[1] ?? 0)
  }
  const before = await count()
  let own = 1
  await eventually(async () => expect((await count()) - ++own).toBeGreaterThan(before + 2))
}

/** What the processes write again on a server that has lost what came after its last save. */
describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('a Redis that lost writes', () => {
  let redis: RedisProcess

  beforeEach(async () => {
    redis = await startRedis()
  })
  afterEach(() => redis.stop())

  const start = (options: Parameters<typeof redisStore>[1] = {}) =>
    redisStore(redis.url, { probeMs: 50, upkeepMs: NEVER_SWEPT, ...options })
  async function two() {
    const one = await start()
    const { store: other } = await start(one)
    return { one: one.store, other, events: one.events, clock: one.clock, prefix: one.prefix }
  }
  /** The other process reads what a writer wrote, and sees no wrong answer before that. */
  const read = (store: Store, ref: string, tenant = 'a', session?: string) =>
    eventually(async () => {
      const name = session === undefined ? { tenant, ref } : { tenant, ref, session }
      const found = await store.get(name)
      if (!found.ok) expect(found.reason).toBe('unavailable')
      return must(found).body
    })

  test('gets bodies, their links, pins and records again, from whoever wrote them', async () => {
    const { one, other, events, prefix } = await two()
    const old = await keep(one, 'old')
    await redis.ask('SAVE')
    const key = { tenant: 'a', namespace: 'n', key: 'k' }
    // What a process that has ended wrote is lost; so the records get other versions.
    const { store: ended } = await start({ prefix })
    must(await ended.writeRecord({ ...key, key: 'lost', value: bytesOf('x') }))
    await ended.close()
    const large = noise(300 * KIB, 1)
    const { hash } = await keep(one, large)
    const { hash: small } = await keep(one, 'small', { tenant: 'a', session: 's' })
    const pinUntil = must(await one.get({ tenant: 'a', ref: old.hash })).created_at + DAY
    // The other process prolongs what this one wrote, and what both had before.
    must((await other.touch([{ tenant: 'a', ref: small, pinUntil }]))[0])
    must((await other.touch([{ tenant: 'a', ref: old.hash, pinUntil }]))[0])
    must(await other.writeRecord({ ...key, value: bytesOf('1'), ifVersion: 0 }))
    const { version } = must(await other.writeRecord({ ...key, value: bytesOf('2') }))
    must(await other.writeRecord({ ...key, value: bytesOf('3'), ifVersion: version }))
    await redis.restart()
    expect(text(await read(other, small.slice(0, 8), 'a', 's'))).toBe('small')
    expect(Buffer.compare(await read(other, hash), large)).toBe(0)
    await eventually(async () => {
      expect(text(must(await one.readRecord(key)).value)).toBe('3')
      for (const ref of [small, old.hash])
        expect(must(await one.get({ tenant: 'a', ref })).expires_at).toBe(pinUntil)
    })
    expect(events.filter(({ kind }) => kind === 'other_server')).toMatchObject([{ written: 3 }])
    expect(must(await one.stats('a'))).toMatchObject({ bodies: 3, records: 1 })
  })

  test('has what was purged no more if the process that purged it has ended', async () => {
    const { one, other, prefix } = await two()
    const [gone, kept] = [await keep(one, 'purged'), await keep(one, 'b', { tenant: 'b' })]
    const { store: ended } = await start({ prefix })
    const { generation = '' } = must(await ended.purgeTenant('a'))
    await ended.close()
    for (const each of [one, other]) each.forgetPurged!('a', generation)
    await redis.ask('FLUSHALL')
    expect(text(await read(other, kept.hash, 'b'))).toBe('b')
    await eventually(async () => {
      const found = await other.get({ tenant: 'a', ref: gone.hash })
      expect(found).toMatchObject({ reason: 'not_found' })
    })
  })

  test('gives back nothing that was purged, though who purged it comes back later', async () => {
    const { store: one, prefix } = await start({ silentMs: 250 })
    const { store: other, events } = await start({ silentMs: 250, prefix, probeMs: 1_500 })
    const { hash: ref } = await keep(one, 'x', { tenant: 'a', session: 's' })
    await redis.ask('SAVE')
    must(await other.purgeSession('a', 's'))
    await redis.restart()
    while (!events.some(({ kind }) => kind === 'other_server'))
      expect(await one.get({ tenant: 'a', ref })).toMatchObject({ reason: 'unavailable' })
    // Later than processes usually take to come back.
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000)
    onTestFinished(() => clock.mockRestore())
    await eventually(async () => {
      const found = await one.get({ tenant: 'a', ref })
      expect(found.ok).toBe(false)
      expect(found).toMatchObject({ reason: 'not_found' })
    })
  })

  test('says of no text that it is gone while a process has not told what it wrote', async () => {
    const options = { silentMs: 2_000 }
    const { store: one, prefix } = await start({ ...options, probeMs: 600_000 })
    const { store: other, events } = await start({ ...options, prefix })
    const { hash: ref } = await keep(one, 'x')
    // Both know of each other.
    await looks(redis)
    await redis.restart()
    await eventually(() => expect(events.map(({ kind }) => kind)).toContain('other_server'))
    await eventually(async () => {
      expect(await redis.ask('GET', `${prefix}:unsure`)).toBeNull()
    })
    // Later than processes usually take to come back.
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000)
    onTestFinished(() => clock.mockRestore())
    for (let i = 0; i < 3; i++) {
      await looks(redis)
      expect(await other.get({ tenant: 'a', ref })).toMatchObject({ reason: 'unavailable' })
    }
    clock.mockImplementation(() => now() + 90_000)
    await looks(redis)
    expect(await other.get({ tenant: 'a', ref })).toMatchObject({ reason: 'not_found' })
  })

  test('has what was purged no more, and what was written after a purge', async () => {
    const { one, other } = await two()
    await keep(one, 'before', { tenant: 'a', session: 's' })
    await redis.ask('SAVE')
    const gone = await keep(one, 'purged', { tenant: 'a', session: 's' })
    must(await other.purgeSession('a', 's'))
    const stays = await keep(one, 'after', { tenant: 'a', session: 's' })
    const goneToo = await keep(one, 'purged too', { tenant: 'b' })
    must(await other.purgeTenant('b'))
    const staysToo = await keep(one, 'after that', { tenant: 'b' })
    await redis.restart()
    expect(text(await read(one, staysToo.hash, 'b'))).toBe('after that')
    expect(text(await read(one, stays.hash))).toBe('after')
    for (const [tenant, { hash: ref }] of [
      ['a', gone],
      ['b', goneToo],
    ] as const)
      await eventually(async () => {
        expect(await one.get({ tenant, ref })).toMatchObject({ reason: 'not_found' })
      })
    expect(must(await one.stats('a')).bodies).toBe(1)
  })

  test('keeps a purge that it did not lose: nothing comes back', async () => {
    const { one, other } = await two()
    const { hash: ref } = await keep(one, 'x', { tenant: 'a', session: 's' })
    must(await other.purgeSession('a', 's'))
    const kept = await keep(one, 'y', { tenant: 'a', session: 's' })
    await redis.ask('SAVE')
    await redis.restart()
    expect(text(await read(other, kept.hash))).toBe('y')
    await eventually(async () => {
      expect(await one.get({ tenant: 'a', ref })).toMatchObject({ reason: 'not_found' })
    })
  })

  test('keeps a session that began again before the process that ended it was back', async () => {
    // It tries the server again much later than the next process comes.
    const { store: one, events, prefix, clock } = await start({ probeMs: 1_000 })
    await keep(one, 'x', { tenant: 'a', session: 's' })
    must(await one.purgeSession('a', 's'))
    await redis.restart()
    clock.now += 1
    const { store: next } = await start({ prefix, clock })
    const asked = { tenant: 'a', session: 's', calls: ['ab'.repeat(32)], has: null, ttlMs: DAY }
    must(await next.journal!.open(asked))
    const { hash: ref } = await keep(next, 'y', { tenant: 'a', session: 's' })
    await eventually(() => expect(events.map(({ kind }) => kind)).toContain('other_server'))
    expect(text(must(await next.get({ tenant: 'a', ref })).body)).toBe('y')
  })

  test('keeps a record that another process wrote before this one was back', async () => {
    // It tries the server again much later than the next process comes.
    const { store: one, prefix } = await start({ probeMs: 1_000 })
    const key = { tenant: 'a', namespace: 'n', key: 'k' }
    must(await one.writeRecord({ ...key, value: bytesOf('lost'), ifVersion: 0 }))
    await redis.restart()
    const { store: late } = await start({ prefix })
    const written = await late.writeRecord({ ...key, value: bytesOf('new'), ifVersion: 0 })
    await eventually(() => expect(one.load.state).toBe('open'))
    const now = text(must(await late.readRecord(key)).value)
    expect(now).toBe(written.ok ? 'new' : 'lost')
  })

  test('was flushed under calls has what was written in the last seconds, and new sessions', async () => {
    const { one, other, events } = await two()
    const { hash } = await keep(one, 'x')
    const asked = { tenant: 'a', session: 's', calls: ['ab'.repeat(32)], has: null, ttlMs: DAY }
    const { epoch } = must(await one.journal!.open(asked))
    await redis.ask('FLUSHALL')
    await eventually(() => expect(events.map(({ kind }) => kind)).toContain('other_server'))
    expect(text(await read(other, hash))).toBe('x')
    await eventually(async () => {
      expect(must(await other.journal!.open(asked)).epoch).not.toBe(epoch)
    })
  })

  test('begins sessions again, also under a number that was lost', async () => {
    const { one, other, clock } = await two()
    const asked = { tenant: 'a', session: 's', calls: ['ab'.repeat(32)], has: null, ttlMs: DAY }
    must(await one.journal!.open(asked))
    await redis.ask('SAVE')
    must(await one.journal!.compact(asked))
    const { epoch } = must(await one.journal!.open(asked))
    await redis.restart()
    // The next server's clock is behind.
    clock.now -= DAY / 2
    const again = await eventually(async () => must(await other.journal!.open(asked)))
    expect(again.epoch).not.toBe(epoch)
  })
})
