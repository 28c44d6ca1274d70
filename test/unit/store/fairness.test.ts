import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { parsePart } from '../../../src/core/parts/parse-part.ts'
import { bytesOf, inlineStore, keep, must, noise } from './inline-store.ts'

const MIB = 1024 * 1024

describe('in the store', () => {
  const rows = Array.from({ length: 1000 }, (_, i) => ({ id: i, name: `row ${i}` }))
  const path = parsePart({ path: '$[-1].id' })!

  test('three hundred reads of one tenant: others and the probe do not wait for them', async () => {
    const { store } = await inlineStore({ maxWaitMs: 1e9 })
    const { hash: ref } = await keep(store, JSON.stringify(rows))
    const { hash: small } = await keep(store, 'x', { tenant: 'b' })
    const order: string[] = []
    const told = (name: string, call: Promise<{ ok: boolean }>) =>
      call.then(({ ok }) => order.push(ok ? name : `${name} failed`))
    const reads = Array.from({ length: 300 }, () =>
      told('a', store.part({ tenant: 'a', ref }, path)),
    )
    const others = [
      told('b', store.get({ tenant: 'b', ref: small })),
      told('stats', store.stats()),
      told(
        'touch',
        store.touch([{ tenant: 'b', ref: small }]).then(([kept]) => kept!),
      ),
      told('record', store.readRecord({ tenant: 'b', namespace: 'n', key: 'k' })),
      told(
        'put',
        store.put([{ tenant: 'b', body: bytesOf('y'), mediaType: 'x' }]).then(([k]) => k!),
      ),
    ]
    await Promise.all(others)
    const before = order.filter(name => name === 'a').length
    expect(before).toBeLessThan(80)
    expect(order.filter(name => name !== 'a').sort()).toEqual([
      'b',
      'put',
      'record failed',
      'stats',
      'touch',
    ])
    await store.close()
    await Promise.all(reads)
    expect(order.filter(name => name === 'a')).toHaveLength(300)
  })

  test('a tenant that would wait longer than it may is told so', async () => {
    const { store } = await inlineStore({ maxWaitMs: 20 })
    const { hash: ref } = await keep(store, JSON.stringify(rows))
    const results = await Promise.all(
      Array.from({ length: 300 }, () => store.part({ tenant: 'a', ref }, path)),
    )
    const refused = results.filter(({ ok }) => !ok)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(300)
    expect(refused[0]).toMatchObject({ reason: 'busy' })
    expect(store.load).toMatchObject({ pending: 0, refused: refused.length })
    must(await store.part({ tenant: 'a', ref }, path))
  })

  test('verifying takes no lock, goes in steps of some bytes, and locks only to remove', async () => {
    const { store, folder } = await inlineStore({ busyTimeoutMs: 5 })
    for (let i = 0; i < 5; i++) await keep(store, noise(3 * MIB, i))
    const other = new DatabaseSync(join(folder, 'store.sqlite'))
    other.exec('BEGIN IMMEDIATE')
    const first = must(await store.verify(100))
    expect(first).toMatchObject({ checked: 3, damaged: 0 })
    expect(must(await store.verify(100, first.cursor!))).toMatchObject({ checked: 2, cursor: null })
    other.exec(`UPDATE chunk SET data = x'00' WHERE id / 4096 = 2; COMMIT; BEGIN IMMEDIATE`)
    expect(await store.verify(100)).toMatchObject({ reason: 'busy' })
    other.exec('ROLLBACK')
    other.close()
    expect(must(await store.verify(100))).toMatchObject({ damaged: 1 })
    expect(must(await store.stats()).bodies).toBe(4)
  })
})
