import { hash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
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
import { twins } from '../twins.ts'

import type { OpenStore } from './open-store.ts'

const DAY = 24 * 60 * MINUTE

/** What every store does with bodies. */
export function bodyCases(open: OpenStore): void {
  describe('put and get', () => {
    test.each([
      ['nothing', 0],
      ['one byte', 1],
      ['a chunk less a byte', 65_535],
      ['a chunk', 65_536],
      ['a chunk and a byte', 65_537],
      ['many chunks', 1_000_003],
    ])('%s comes back as it went in', async (_, size) => {
      const { store } = await open()
      const bodies = { a: noise(size, 1), b: new Uint8Array(size).fill(65) }
      for (const [tenant, body] of Object.entries(bodies)) {
        const kept = await keep(store, body, { tenant })
        expect(kept).toMatchObject({ bytes: size, created: true, hash: hash('sha256', body) })
        const got = must(await store.get({ tenant, ref: kept.hash }))
        expect(Buffer.compare(got.body, body)).toBe(0)
        expect(got).toMatchObject({ media_type: 'text/plain', created_at: START, bytes: size })
      }
    })

    test('only the view is kept, and the caller keeps its buffer', async () => {
      const { store } = await open()
      const buffer = new TextEncoder().encode('before|body|after')
      const kept = await keep(store, buffer.subarray(7, 11))
      expect(text(must(await store.get({ tenant: 'a', ref: kept.hash })).body)).toBe('body')
      expect(buffer.byteLength).toBe(17)
    })

    test('a body put again is kept once and lives longer, never shorter', async () => {
      const { store, clock } = await open()
      const first = await keep(store, 'x', { tenant: 'a', ttlMs: 60 * MINUTE })
      clock.now += MINUTE
      const second = await keep(store, 'x', { tenant: 'a', ttlMs: MINUTE })
      expect(second).toEqual({ ...first, created: false })
      clock.now += 10 * MINUTE
      expect((await keep(store, 'x', { tenant: 'a', ttlMs: 60 * MINUTE })).expires_at).toBe(
        START + 71 * MINUTE,
      )
      expect(must(await store.stats()).bodies).toBe(1)
    })

    test('a body over the limit is refused', async () => {
      const { store } = await open({ maxBodyBytes: 1000 })
      const [result] = await store.put([
        { tenant: 'a', body: noise(1001, 1), mediaType: 'text/plain' },
      ])
      expect(result).toMatchObject({ ok: false, reason: 'too_large' })
      await keep(store, noise(1000, 1))
    })
  })

  describe('references', () => {
    test('12 to 64 hex digits name a body, in either case', async () => {
      const { store } = await open()
      const { hash } = await keep(store, 'x')
      for (const length of [12, 13, 24, 63, 64]) {
        must(await store.get({ tenant: 'a', ref: hash.slice(0, length) }))
        must(await store.get({ tenant: 'a', ref: hash.slice(0, length).toUpperCase() }))
      }
      for (const ref of [
        hash.slice(0, 11),
        '',
        `${hash}0`,
        'zzzzzzzzzzzz',
        `${hash.slice(0, 12)}%`,
      ]) {
        expect(await store.get({ tenant: 'a', ref })).toMatchObject({ reason: 'invalid_request' })
      }
    })

    test('8 digits are enough inside the session that has the body, and only there', async () => {
      const { store } = await open()
      const { hash } = await keep(store, 'x', { tenant: 'a', session: 's' })
      await keep(store, 'y', { tenant: 'a', session: 't' })
      const ref = hash.slice(0, 8)
      must(await store.get({ tenant: 'a', ref, session: 's' }))
      expect(await store.get({ tenant: 'a', ref, session: 't' })).toMatchObject({
        reason: 'not_found',
      })
      expect(await store.get({ tenant: 'b', ref, session: 's' })).toMatchObject({
        reason: 'not_found',
      })
      expect(await store.get({ tenant: 'a', ref: hash.slice(0, 7), session: 's' })).toMatchObject({
        reason: 'invalid_request',
      })
      // A long one needs no session, so naming another does no harm.
      must(await store.get({ tenant: 'a', ref: hash.slice(0, 24), session: 'unknown' }))
    })

    test('the reference of a body stays its own: none with the same first digits joins its session', async () => {
      const { store, clock } = await open()
      const [one, two] = twins(i => `twin ${i}`, [117_425, 119_165])
      const ofSession = { tenant: 'a', session: 's', ttlMs: MINUTE }
      const { hash } = await keep(store, one, ofSession)
      const short = { tenant: 'a', session: 's', ref: hash.slice(0, 8) }
      const putTwo = (session: string) =>
        store.put([{ ...ofSession, session, body: bytesOf(two), mediaType: 'text/plain' }])
      expect(await putTwo('s')).toMatchObject([{ ok: false, reason: 'ambiguous' }])
      // Nothing of it was kept.
      expect((await keep(store, two, { tenant: 'a' })).created).toBe(true)
      expect(await putTwo('s')).toMatchObject([{ ok: false, reason: 'ambiguous' }])
      expect(await putTwo('t')).toMatchObject([{ ok: true, created: false }])
      expect(text(must(await store.get(short)).body)).toBe(one)
      await keep(store, one, ofSession)
      // Not even when its life is over, as long as it is known.
      clock.now += 2 * MINUTE
      expect(await putTwo('s')).toMatchObject([{ ok: false, reason: 'ambiguous' }])
      expect(await store.get(short)).toMatchObject({ reason: 'gone' })
      must(await store.purgeSession('a', 's'))
      expect(await putTwo('s')).toMatchObject([{ ok: true }])
      expect(text(must(await store.get(short)).body)).toBe(two)
    })

    test('a body whose short reference is taken has a long one in the session', async () => {
      const { store } = await open()
      const [one, two] = twins(i => `twin ${i}`, [117_425, 119_165])
      const inSession = (ref: string, session = 's') => ({ tenant: 'a', session, ref })
      const first = await keep(store, one, { tenant: 'a', session: 's' })
      const long = hash('sha256', two).slice(0, 24)
      const put = (text: string, ref?: string) => {
        const item = { tenant: 'a', session: 's', body: bytesOf(text), mediaType: 'text/plain' }
        return store.put([ref === undefined ? item : { ...item, ref }])
      }
      expect(await put(two, long)).toMatchObject([{ ok: true, created: true }])
      // Again, and with another length: neither changes what the references mean.
      expect(await put(two, long)).toMatchObject([{ ok: true, created: false }])
      expect(await put(two)).toMatchObject([{ ok: false, reason: 'ambiguous' }])
      expect(await put(one)).toMatchObject([{ ok: true, created: false }])
      const textOf = async (ref: string) => text(must(await store.get(inSession(ref))).body)
      expect(await textOf(first.hash.slice(0, 8))).toBe(one)
      expect(await textOf(first.hash.slice(0, 24))).toBe(one)
      expect(await textOf(long)).toBe(two)
      expect(await textOf(hash('sha256', two))).toBe(two)
      expect(await store.get(inSession(long.slice(0, 11)))).toMatchObject({ reason: 'not_found' })
      // Both go with the session.
      must(await store.purgeSession('a', 's'))
      expect(await store.get(inSession(long))).toMatchObject({ ok: false })
      expect(await put(two)).toMatchObject([{ ok: true, created: true }])
      expect(await textOf(long.slice(0, 8))).toBe(two)
    })

    test('a long reference in a session may be followed by a short one, once that is free', async () => {
      const { store } = await open()
      const body = bytesOf('one')
      const item = { tenant: 'a', session: 's', body, mediaType: 'text/plain' }
      const ref = hash('sha256', body).slice(0, 24)
      const short = { tenant: 'a', session: 's', ref: ref.slice(0, 8) }
      expect(await store.put([{ ...item, ref }])).toMatchObject([{ ok: true }])
      expect(await store.get(short)).toMatchObject({ reason: 'not_found' })
      expect(await store.put([item])).toMatchObject([{ ok: true }])
      expect(await store.put([{ ...item, ref }])).toMatchObject([{ ok: true }])
      expect(text(must(await store.get(short)).body)).toBe('one')
    })

    test('another tenant gets the answer of an unknown hash', async () => {
      const { store } = await open()
      const { hash } = await keep(store, 'secret', { tenant: 'a' })
      await keep(store, 'other', { tenant: 'b' })
      const unknown = hash.replace(/./, digit => (digit === '0' ? '1' : '0'))
      for (const tenant of ['b', 'nobody']) {
        const answer = async (ref: string) =>
          JSON.stringify(await store.get({ tenant, ref })).replace(ref, 'REF')
        expect(await answer(hash)).toBe(await answer(unknown))
      }
      // The same content of both is kept for each, and one's end is not the other's.
      expect((await keep(store, 'secret', { tenant: 'b' })).created).toBe(true)
      must(await store.purgeTenant('a'))
      must(await store.get({ tenant: 'b', ref: hash }))
    })
  })

  describe('time', () => {
    test('an expired body is gone, then not found; another tenant’s never was', async () => {
      const { store, clock } = await open({ tombstoneMs: DAY, upkeepMs: NEVER_SWEPT })
      const { hash } = await keep(store, 'x', { tenant: 'a', session: 's' })
      await keep(store, 'y', { tenant: 'b' })
      const get = (tenant: string, ref = hash) => store.get({ tenant, ref })
      clock.now += 30 * MINUTE - 1
      must(await get('a'))
      clock.now += 1
      const at = new Date(clock.now).toISOString()
      const expired = { reason: 'gone', detail: `the original ${hash} expired at ${at}` }
      expect(await get('a')).toMatchObject(expired)
      expect(await store.touch([{ tenant: 'a', ref: hash }])).toMatchObject([expired])
      expect(must(await store.prune())).toMatchObject({ bodies: 2 })
      clock.now += 1
      expect(await get('a')).toMatchObject({
        reason: 'gone',
        detail: `the original ${hash} expired, or made room for others, at ${at}`,
      })
      expect(await get('b')).toMatchObject({ reason: 'not_found' })
      expect(await store.get({ tenant: 'a', session: 's', ref: hash.slice(0, 8) })).toMatchObject({
        reason: 'gone',
      })
      clock.now += DAY
      expect(await get('a')).toMatchObject({ reason: 'not_found' })
      expect((await keep(store, 'x')).created).toBe(true)
      must(await get('a'))
    })

    test('touching prolongs; a pin promises life until its end', async () => {
      const { store, clock } = await open()
      const { hash: ref } = await keep(store, 'x')
      clock.now += 20 * MINUTE
      const [touched] = await store.touch([{ tenant: 'a', ref }])
      expect(must(touched).expires_at).toBe(START + 50 * MINUTE)
      const [pinned] = await store.touch([{ tenant: 'a', ref, ttlMs: 0, pinUntil: START + DAY }])
      expect(must(pinned).expires_at).toBe(START + DAY)
      clock.now = START + DAY - 1
      must(await store.prune())
      must(await store.get({ tenant: 'a', ref }))
      clock.now += 1
      expect(await store.touch([{ tenant: 'a', ref }])).toMatchObject([{ reason: 'gone' }])
      expect(await store.touch([{ tenant: 'b', ref }])).toMatchObject([{ reason: 'not_found' }])
    })

    test('a clock that goes back loses nothing', async () => {
      const { store, clock } = await open()
      const { hash: ref } = await keep(store, 'x')
      clock.now -= 60 * MINUTE
      must(await store.prune())
      must(await store.get({ tenant: 'a', ref }))
      const again = await keep(store, 'x')
      expect(again.expires_at).toBe(START + 30 * MINUTE)
      const { hash } = await keep(store, 'y')
      must(await store.get({ tenant: 'a', ref: hash }))
    })
  })

  describe('purge', () => {
    test('a session takes what only it keeps, at once and without a trace', async () => {
      const { store } = await open()
      const own = await keep(store, 'own', { tenant: 'a', session: 's', pinUntil: START + DAY })
      const shared = await keep(store, 'shared', { tenant: 'a', session: 's' })
      await keep(store, 'shared', { tenant: 'a', session: 't' })
      const alone = await keep(store, 'alone', { tenant: 'a', session: 's' })
      await keep(store, 'alone', { tenant: 'a' })
      expect(must(await store.purgeSession('b', 's')).bodies).toBe(0)
      expect(must(await store.purgeSession('a', 's')).bodies).toBe(1)
      expect(await store.get({ tenant: 'a', ref: own.hash })).toMatchObject({ reason: 'not_found' })
      must(await store.get({ tenant: 'a', ref: shared.hash.slice(0, 8), session: 't' }))
      must(await store.get({ tenant: 'a', ref: alone.hash }))
      expect(
        await store.get({ tenant: 'a', ref: shared.hash.slice(0, 8), session: 's' }),
      ).toMatchObject({ reason: 'not_found' })
      expect(must(await store.purgeSession('a', 's')).bodies).toBe(0)
    })

    test('a tenant takes everything of it, more than one step of it', async () => {
      const { store } = await open()
      const put = Array.from({ length: 200 }, (_, i) => ({
        tenant: 'a',
        session: `s${i % 7}`,
        body: bytesOf(`body ${i}`),
        mediaType: 'text/plain',
      }))
      const results = (await store.put(put)).map(result => must(result))
      await keep(store, 'mine', { tenant: 'b' })
      must(await store.writeRecord({ tenant: 'a', namespace: 'n', key: 'k', value: bytesOf('v') }))
      expect(must(await store.purgeTenant('a'))).toMatchObject({ bodies: 200, records: 1 })
      expect(await store.get({ tenant: 'a', ref: results[0]!.hash })).toMatchObject({
        reason: 'not_found',
      })
      const stats = must(await store.stats())
      expect(stats).toMatchObject({ bodies: 1, records: 0 })
      expect(must(await store.purgeTenant('a'))).toMatchObject({ bodies: 0 })
    })
  })
}
