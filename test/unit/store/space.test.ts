import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { settle } from '../../../src/store/sqlite/settings.ts'
import { inlineStore, keep, MINUTE, must, noise, START } from './inline-store.ts'

const MIB = 1024 * 1024
const KIB = 1024

describe('the cap', () => {
  test('what was used least recently goes, pins and what was read stay', async () => {
    const { store } = await inlineStore({ maxBytes: 4 * MIB, maxBodyBytes: 256 * KIB })
    const body = (i: number) => noise(100 * KIB, i)
    const first = await keep(store, body(0))
    const pinned = await keep(store, body(1), { tenant: 'a', pinUntil: START + 60 * MINUTE })
    const second = await keep(store, body(2))
    for (let i = 3; i < 30; i++) await keep(store, body(i))
    must(await store.get({ tenant: 'a', ref: second.hash }))
    for (let i = 30; i < 55; i++) {
      await keep(store, body(i))
      must(await store.get({ tenant: 'a', ref: second.hash }))
    }
    expect(await store.get({ tenant: 'a', ref: first.hash })).toMatchObject({ reason: 'gone' })
    must(await store.get({ tenant: 'a', ref: pinned.hash }))
    expect(must(await store.stats()).counters?.evicted).toBeGreaterThan(10)
  })

  test('the file stays within it, and live bodies that fill it refuse more', async () => {
    const { store, folder, clock } = await inlineStore({ maxBytes: 4 * MIB })
    const pinUntil = START + MINUTE
    let kept = 0
    let refusal = ''
    for (let i = 0; i < 60; i++) {
      const [result] = await store.put([
        { tenant: 'a', body: noise(100 * KIB, i), mediaType: 'x', pinUntil },
      ])
      if (result?.ok === true) kept++
      else refusal = result?.reason ?? ''
      const size = (suffix: string) => statSync(join(folder, `store.sqlite${suffix}`)).size
      expect(size('') + size('-wal')).toBeLessThan(4 * MIB * 1.05)
    }
    expect(kept).toBeGreaterThan(33)
    expect(refusal).toBe('full')
    // Reading goes on, and the end of the pins makes room.
    expect(must(await store.verify(1000)).checked).toBe(kept)
    clock.now += MINUTE
    await keep(store, noise(100 * KIB, 1000))
  })

  test('a tenant is told the same, whether its share or the store is full', async () => {
    const pinUntil = START + MINUTE
    const told: Record<string, string> = {}
    for (const share of [{}, { tenantMaxBytes: MIB }]) {
      const { store } = await inlineStore({ maxBytes: 4 * MIB, ...share })
      for (let i = 0; i < 20; i++) {
        const body = noise(240 * KIB, i)
        const [result] = await store.put([{ tenant: 'a', body, mediaType: 'x', pinUntil }])
        if (result?.ok === false) told[result.reason] = result.detail
      }
    }
    expect(Object.keys(told).sort()).toEqual(['full', 'quota'])
    expect(told['full']).toMatch(/no room/)
    expect(told['full']).toBe(told['quota'])
  })

  test('bodies that nothing can make room for are refused at once', async () => {
    const { store } = await inlineStore({ maxBytes: 4 * MIB, tenantMaxBytes: 10 * KIB })
    const [result] = await store.put([{ tenant: 'a', body: noise(20 * KIB, 1), mediaType: 'x' }])
    expect(result).toMatchObject({ reason: 'quota' })
  })
})

describe('a tenant’s share', () => {
  test('it evicts its own and nobody else’s, and its pins are refused more', async () => {
    const { store } = await inlineStore({ maxBytes: 64 * MIB, tenantMaxBytes: MIB })
    const other = await keep(store, noise(500 * KIB, 1000), { tenant: 'b' })
    const first = await keep(store, noise(200 * KIB, 0))
    for (let i = 1; i < 8; i++) await keep(store, noise(200 * KIB, i))
    expect(await store.get({ tenant: 'a', ref: first.hash })).toMatchObject({ reason: 'gone' })
    must(await store.get({ tenant: 'b', ref: other.hash }))
    const stats = must(await store.stats('a'))
    expect(stats.bodies).toBe(5)
    expect(stats.stored_bytes).toBeLessThanOrEqual(MIB)
    expect(stats.file).toBeUndefined()

    const pinUntil = START + MINUTE
    for (let i = 0; i < 5; i++)
      await keep(store, noise(200 * KIB, 100 + i), { tenant: 'a', pinUntil })
    const [refused] = await store.put([
      { tenant: 'a', body: noise(200 * KIB, 200), mediaType: 'x', pinUntil },
    ])
    expect(refused).toMatchObject({ reason: 'quota' })
    const record = { tenant: 'a', namespace: 'n', key: 'k', value: noise(100 * KIB, 1) }
    expect(await store.writeRecord(record)).toMatchObject({ reason: 'quota' })
  })

  test('totals are what is there after every kind of change', async () => {
    const { store, clock } = await inlineStore()
    expect(must(await store.stats('a'))).toEqual({
      ok: true,
      bodies: 0,
      records: 0,
      stored_bytes: 0,
    })
    await keep(store, noise(1000, 1), { tenant: 'a', session: 's' })
    await keep(store, noise(1000, 2), { tenant: 'a', ttlMs: 60 * MINUTE })
    const one = must(await store.stats('a')).stored_bytes / 2
    const record = { tenant: 'a', namespace: 'n', key: 'k', value: noise(10, 1) }
    must(await store.writeRecord(record))
    const small = must(await store.stats('a')).stored_bytes - 2 * one
    must(await store.writeRecord({ ...record, value: noise(110, 1) }))
    expect(must(await store.stats('a')).stored_bytes).toBe(2 * one + small + 100)
    must(await store.purgeSession('a', 's'))
    must(await store.deleteRecord(record))
    expect(must(await store.stats('a'))).toMatchObject({ bodies: 1, records: 0, stored_bytes: one })
    clock.now += 60 * MINUTE
    must(await store.prune())
    expect(must(await store.stats('a'))).toMatchObject({ bodies: 0, stored_bytes: 0 })
  })
})

test('much unused space is given back to the file system', async () => {
  const { store, folder } = await inlineStore({ maxBytes: 64 * MIB })
  for (let i = 0; i < 50; i++) await keep(store, noise(100 * KIB, i), { tenant: 'a' })
  await keep(store, 'stays', { tenant: 'b' })
  must(await store.purgeTenant('a'))
  await expect.poll(() => statSync(join(folder, 'store.sqlite')).size).toBeLessThan(3 * MIB)
  expect(must(await store.verify(10))).toMatchObject({ checked: 1, damaged: 0 })
})

test('impossible settings are refused', () => {
  const folder = '/nowhere'
  expect(() => settle({ folder, maxBytes: 1000 })).toThrow(RangeError)
  expect(() => settle({ folder, keys: [{ id: 'k', key: new Uint8Array(31) }] })).toThrow(/32 bytes/)
  expect(() => settle({ folder, keys: [{ id: '', key: new Uint8Array(32) }] })).toThrow(/64 char/)
  const key = { id: 'k', key: new Uint8Array(32) }
  expect(() => settle({ folder, keys: [key, key] })).toThrow(/same id/)
})
