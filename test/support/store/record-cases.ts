import { describe, expect, test } from 'vitest'
import { bytesOf, MINUTE, must, NEVER_SWEPT, noise, text } from '../../unit/store/inline-store.ts'

import type { OpenStore } from './open-store.ts'

const key = { tenant: 'a', namespace: 'session', key: 'k' }

/** What every store does with records. */
export function recordCases(open: OpenStore): void {
  describe('records', () => {
    test('a value is read as it was written, by its tenant, namespace and key only', async () => {
      const { store } = await open()
      must(await store.writeRecord({ ...key, value: bytesOf('value') }))
      expect(text(must(await store.readRecord(key)).value)).toBe('value')
      for (const other of [{ tenant: 'b' }, { namespace: 'fingerprint' }, { key: 'l' }]) {
        expect(await store.readRecord({ ...key, ...other })).toMatchObject({ reason: 'not_found' })
      }
    })

    test('a write with a version succeeds once', async () => {
      const { store } = await open()
      const write = (value: string, ifVersion?: number) =>
        store.writeRecord({
          ...key,
          value: bytesOf(value),
          ...(ifVersion === undefined ? {} : { ifVersion }),
        })
      const { version } = must(await write('first', 0))
      expect(await write('second', 0)).toMatchObject({ reason: 'conflict' })
      const results = await Promise.all([write('x', version), write('y', version)])
      expect(results.map(({ ok }) => ok).sort()).toEqual([false, true])
      const now = must(await store.readRecord(key)).version
      expect(await store.deleteRecord(key, version)).toMatchObject({ reason: 'conflict' })
      must(await store.deleteRecord(key, now))
      expect(await store.deleteRecord(key)).toMatchObject({ reason: 'not_found' })
      // Written anew it has another version, so an old one never fits again.
      const again = must(await write('third', 0)).version
      expect([version, now]).not.toContain(again)
    })

    test('a record ends at its time, and counts as absent from then on', async () => {
      const { store, clock } = await open({ upkeepMs: NEVER_SWEPT })
      must(await store.writeRecord({ ...key, value: bytesOf('v'), ttlMs: MINUTE }))
      must(await store.writeRecord({ ...key, key: 'forever', value: bytesOf('v') }))
      clock.now += MINUTE
      expect(await store.readRecord(key)).toMatchObject({ reason: 'not_found' })
      must(await store.writeRecord({ ...key, value: bytesOf('w'), ifVersion: 0, ttlMs: MINUTE }))
      clock.now += MINUTE
      expect(must(await store.prune()).records).toBe(1)
      expect(must(await store.readRecord({ ...key, key: 'forever' })).expires_at).toBeNull()
    })

    test('what is too large is refused', async () => {
      const { store } = await open()
      const large = noise(4 * 1024 * 1024 + 1, 1)
      expect(await store.writeRecord({ ...key, value: large })).toMatchObject({
        reason: 'too_large',
      })
      const long = { ...key, key: 'k'.repeat(2000), value: bytesOf('v') }
      expect(await store.writeRecord(long)).toMatchObject({ reason: 'too_large' })
    })
  })
}
