import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createCodec, UnreadableError } from '../../../src/store/values/codec.ts'
import { bytesOf, inlineStore, keep, must, noise, text } from './inline-store.ts'

const old = { id: 'old', key: noise(32, 1) }
const fresh = { id: 'fresh', key: noise(32, 2) }
const SECRET = 'the secret that must not stand in the file '
const record = { tenant: 'a', namespace: 'n', key: 'k' }

describe('encryption at rest', () => {
  test('content stands in the file only without it', async () => {
    for (const keys of [[], [old]]) {
      const { store, folder } = await inlineStore({ keys, compressFromBytes: null })
      const { hash } = await keep(store, SECRET.repeat(3000))
      must(await store.writeRecord({ ...record, value: bytesOf(SECRET) }))
      expect(text(must(await store.get({ tenant: 'a', ref: hash })).body)).toBe(SECRET.repeat(3000))
      expect(text(must(await store.readRecord(record)).value)).toBe(SECRET)
      await store.close()
      expect(readFileSync(join(folder, 'store.sqlite')).includes(SECRET)).toBe(keys.length === 0)
    }
  })

  test('the first key writes, all read; without its key a body is gone, not lost', async () => {
    const { store, folder } = await inlineStore({ keys: [old] })
    const first = await keep(store, 'first')
    await store.close()

    const both = await inlineStore({ folder, keys: [fresh, old] })
    const second = await keep(both.store, 'second')
    must(await both.store.get({ tenant: 'a', ref: first.hash }))
    await both.store.close()

    const one = await inlineStore({ folder, keys: [fresh] })
    must(await one.store.get({ tenant: 'a', ref: second.hash }))
    for (let i = 0; i < 2; i++) {
      expect(await one.store.get({ tenant: 'a', ref: first.hash })).toMatchObject({
        reason: 'gone',
      })
    }
    expect(one.events).toEqual([{ kind: 'missing_key', key_id: 'old' }])
    expect(must(await one.store.verify(10))).toMatchObject({ checked: 2, damaged: 0 })
    await one.store.close()

    const again = await inlineStore({ folder, keys: [fresh, old] })
    must(await again.store.get({ tenant: 'a', ref: first.hash }))
  })

  test('a put over a body whose key is missing writes it with the key of now', async () => {
    const { store, folder } = await inlineStore({ keys: [old] })
    const { hash } = await keep(store, 'x', { tenant: 'a', session: 's' })
    await store.close()
    const later = await inlineStore({ folder, keys: [fresh] })
    expect((await keep(later.store, 'x')).created).toBe(true)
    expect((await keep(later.store, 'x')).created).toBe(false)
    const ref = hash.slice(0, 8)
    expect(text(must(await later.store.get({ tenant: 'a', session: 's', ref })).body)).toBe('x')
    expect(later.events).toEqual([{ kind: 'missing_key', key_id: 'old' }])
    expect(must(await later.store.stats('a')).bodies).toBe(1)
  })

  test('a plain body cannot stand in for an encrypted one, nor one tenant’s for another’s', async () => {
    const { store, folder } = await inlineStore({ keys: [old] })
    const { hash } = await keep(store, 'x', { tenant: 'a' })
    await keep(store, 'x', { tenant: 'b' })
    const database = new DatabaseSync(join(folder, 'store.sqlite'))
    database.exec('UPDATE chunk SET data = (SELECT data FROM chunk c WHERE c.id <> chunk.id)')
    database.close()
    expect(await store.get({ tenant: 'a', ref: hash })).toMatchObject({ reason: 'gone' })
  })

  test('a record without its key fails alone', async () => {
    const { store, folder } = await inlineStore({ keys: [old] })
    must(await store.writeRecord({ ...record, value: bytesOf('v') }))
    await store.close()
    const { store: other, events } = await inlineStore({ folder, keys: [fresh] })
    expect(await other.readRecord(record)).toMatchObject({ ok: false, reason: 'gone' })
    must(await other.writeRecord({ ...record, value: bytesOf('w') }))
    const database = new DatabaseSync(join(folder, 'store.sqlite'))
    database.exec(`UPDATE record SET value = x'0000'`)
    database.close()
    expect(await other.readRecord(record)).toMatchObject({ ok: false, reason: 'gone' })
    expect(events.map(({ kind }) => kind)).toEqual(['missing_key', 'damaged_record'])
    must(await other.writeRecord({ ...record, value: bytesOf('w') }))
    expect(text(must(await other.readRecord(record)).value)).toBe('w')
  })
})

describe('the codec', () => {
  const plain = createCodec({ keys: [], compressFromBytes: 1 })
  const secret = createCodec({ keys: [old], compressFromBytes: 1 })
  const binding = bytesOf('whose')

  test.each([
    ['plain', plain, null],
    ['encrypted', secret, 'old'],
  ])('%s: every changed byte, another binding and another length are found', (_, codec, keyId) => {
    for (const raw of [bytesOf('short'), new Uint8Array(5000).fill(65), noise(300, 1)]) {
      const sealed = codec.seal(raw, binding)
      expect(Buffer.compare(codec.open(sealed, binding, keyId, raw.byteLength), raw)).toBe(0)
      for (let at = 0; at < sealed.byteLength; at++) {
        const changed = Uint8Array.from(sealed)
        changed[at]! ^= 1
        expect(() => codec.open(changed, binding, keyId, raw.byteLength)).toThrow(UnreadableError)
      }
      expect(() => codec.open(sealed, bytesOf('other'), keyId, raw.byteLength)).toThrow()
      expect(() => codec.open(sealed, binding, keyId, raw.byteLength + 1)).toThrow(UnreadableError)
      expect(() => codec.open(sealed.subarray(0, 3), binding, keyId, 1)).toThrow(UnreadableError)
    }
  })

  test('what compression does not make smaller stays as it is', () => {
    expect(plain.seal(noise(1000, 1), binding).byteLength).toBe(1005)
    expect(plain.seal(new Uint8Array(1000), binding).byteLength).toBeLessThan(100)
  })

  test('the same bytes are never encrypted alike', () => {
    const raw = bytesOf('x')
    expect(secret.seal(raw, binding)).not.toEqual(secret.seal(raw, binding))
  })
})
